import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface Title {
  /** Path from the root of the repository. */
  readonly file: string
  /** As it stands in the source; `${...}` where something is put in. */
  readonly title: string
}

/** The titles of all tests in the repository. */
export function testTitles(): Title[] {
  const files = ['src', 'test', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /\.(test\.(ts|js)|suite\.ts)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length)),
  )
  return files.sort().flatMap((file) => titlesIn(file).map((title) => ({ file, title })))
}

function titlesIn(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
  const titles: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTest(node.expression)) {
      const [first] = node.arguments
      if (first && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first))) {
        titles.push(first.getText().slice(1, -1).replaceAll("\\'", "'"))
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return titles
}

/** `it(...)`, `it.each(...)(...)`. */
function isTest(callee: ts.Node): boolean {
  const name = callee.getText()
  return /^(it|test)$/.test(name) || /^(it|test)\.(each|for)\b/.test(name)
}
