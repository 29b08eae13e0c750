/** What a stand-in has stored: every version of every object, so that it can be shown as it was a while ago. */
export class FakeBook {
  readonly #versions = new Map<
    string,
    { readonly at_ms: number; readonly object: Readonly<Record<string, unknown>> }[]
  >()

  put(id: string, object: Readonly<Record<string, unknown>>, at_ms: number): void {
    this.#versions.set(id, [...(this.#versions.get(id) ?? []), { at_ms, object }])
  }

  /** The object as it was at that time; undefined when it was not there yet. */
  at(id: string, at_ms: number): Readonly<Record<string, unknown>> | undefined {
    return this.#versions.get(id)?.findLast((version) => version.at_ms <= at_ms)?.object
  }

  /** All objects as they were at that time, in the order in which they were made. */
  all(at_ms: number): readonly Readonly<Record<string, unknown>>[] {
    return [...this.#versions.keys()].map((id) => this.at(id, at_ms)).filter((object) => object !== undefined)
  }

  /** One page of those created in a window (ISO 8601 texts, inclusive), after the object of that id. */
  page(at_ms: number, query: URLSearchParams): readonly Readonly<Record<string, unknown>>[] {
    const [from, to] = [query.get('from'), query.get('to')].map((text) =>
      text === null ? null : Date.parse(text),
    )
    const inside = this.all(at_ms).filter((object) => {
      const created_ms = Date.parse(String(object.createDate))
      return (from == null || created_ms >= from) && (to == null || created_ms <= to)
    })
    const after = inside.findIndex((object) => object.id === query.get('pageAfter'))
    return inside.slice(after + 1, after + 1 + Number(query.get('pageSize') ?? 10))
  }
}
