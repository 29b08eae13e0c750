// The three pure steps. Signatures are the contract between rules and settling; see rules/README.md.
