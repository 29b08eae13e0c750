import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))
const MAP = 'See src/README.md.'
const FRONT = 'the front door'
const PURE = ['money', 'facts', 'rules']
const TYPES_ONLY = [{ from: 'store', to: 'rules' }]

interface Room {
  readonly name: string
  readonly allows: readonly string[] | 'anything'
}

/** The table of src/README.md. */
function readRooms(text: string): Room[] {
  const rooms: Room[] = []
  for (const line of text.split('\n')) {
    const row = /^\| `([a-z]+)\/` \|.*\| ([^|]*)\|$/.exec(line)
    if (row === null) continue
    const [, name, allowed] = row as unknown as [string, string, string]
    const allows = [...allowed.matchAll(/`([a-z]+)`/g)].map((match) => match[1]!)
    if (allowed.includes(FRONT)) allows.push(FRONT)
    rooms.push({ name, allows: allowed.trim() === 'anything' ? 'anything' : allows })
  }
  return rooms
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts')
}

function roomOf(file: string): string {
  const [first, ...rest] = relative(SRC, file).split('/')
  return rest.length === 0 ? FRONT : first!
}

interface Import {
  readonly specifier: string
  readonly types_only: boolean
}

/** Every import of a source: static, type, dynamic, re-export. */
function importsOf(source: ts.SourceFile): Import[] {
  const found: Import[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const named = node.importClause?.namedBindings
      const each = named && ts.isNamedImports(named) && named.elements.every((element) => element.isTypeOnly)
      const types_only = node.importClause?.isTypeOnly === true || (each === true && !node.importClause?.name)
      found.push({ specifier: node.moduleSpecifier.text, types_only })
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      found.push({ specifier: node.moduleSpecifier.text, types_only: node.isTypeOnly })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments
      if (specifier && ts.isStringLiteral(specifier))
        found.push({ specifier: specifier.text, types_only: false })
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteral(node.argument.literal)) {
        found.push({ specifier: node.argument.literal.text, types_only: true })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true)
}

/** What is wrong with the imports of one file, in words. */
function wrongImports(rooms: ReadonlyMap<string, Room>, source: ts.SourceFile): string[] {
  const from = roomOf(source.fileName)
  const { allows = [] } = rooms.get(from) ?? {}
  if (from === FRONT || allows === 'anything') return []
  const wrong: string[] = []
  for (const { specifier, types_only } of importsOf(source)) {
    if (!specifier.startsWith('.')) continue
    const to = roomOf(resolve(dirname(source.fileName), specifier))
    if (to === from) continue
    const name = relative(SRC, source.fileName)
    if (!allows.includes(to)) {
      wrong.push(
        `${name} imports ${specifier}: ${from} may import only ${allows.join(', ') || 'nothing'}. ${MAP}`,
      )
    } else if (!types_only && TYPES_ONLY.some((rule) => rule.from === from && rule.to === to)) {
      wrong.push(`${name} imports ${specifier}: ${from} may import only types of ${to}. ${MAP}`)
    }
  }
  return wrong
}

/** Everything in a source that waits, asks a clock or chance, or reaches outside. */
function impurities(source: ts.SourceFile): string[] {
  const found: string[] = []
  const tell = (node: ts.Node, what: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart())
    found.push(`${relative(SRC, source.fileName)}:${line + 1} ${what}: this room is pure. ${MAP}`)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isAwaitExpression(node) || node.kind === ts.SyntaxKind.AsyncKeyword) tell(node, 'waits')
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) {
      tell(node, 'asks the clock')
    }
    if (
      ts.isPropertyAccessExpression(node) &&
      /^(Date\.now|Math\.random|performance\.\w+|process\.\w+|console\.\w+)$/.test(node.getText())
    ) {
      tell(node, `uses ${node.getText()}`)
    }
    if (
      ts.isIdentifier(node) &&
      /^(fetch|setTimeout|setInterval|setImmediate|queueMicrotask|randomUUID|randomBytes|Promise)$/.test(
        node.text,
      )
    ) {
      tell(node, `uses ${node.text}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  for (const { specifier } of importsOf(source)) {
    if (!specifier.startsWith('.') && specifier !== 'node:crypto') {
      found.push(`${relative(SRC, source.fileName)} imports ${specifier}: this room is pure. ${MAP}`)
    }
  }
  return found
}

const SQL =
  /\b(?:select\s[\s\S]*\sfrom\s+[\w(]|insert\s+into\s|update\s+\w+\s+(?:\w+\s+)?set\s|delete\s+from\s|(?:create|alter|drop)\s+(?:table|index|schema|sequence)\s|truncate\s)/i

/** The text of a configuration file, in which a merchant would query their own tables. */
const EXAMPLES = ['cli/config-template.ts']

function sqlIn(source: ts.SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const text =
      ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)
        ? node.text
        : ts.isTemplateExpression(node)
          ? node.getText()
          : ''
    if (SQL.test(text)) {
      found.push(
        `${relative(SRC, source.fileName)} holds SQL (${text.trim().slice(0, 40)}): only store may. ${MAP}`,
      )
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const rooms = readRooms(readFileSync(join(SRC, 'README.md'), 'utf8'))
const byName = new Map(rooms.map((room) => [room.name, room]))
const sources = filesIn(SRC)
  .filter((file) => !isTest(file))
  .map(parse)

describe('the rooms', () => {
  it('are the folders of src, and each stands in src/README.md', () => {
    const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(rooms.map(({ name }) => name).sort()).toEqual(folders.map(({ name }) => name).sort())
  })

  it('stand in flow order: none may import one that comes after it', () => {
    rooms.forEach(({ name, allows }, index) => {
      if (allows === 'anything') return
      const earlier = [...rooms.slice(0, index).map((room) => room.name), FRONT]
      expect(earlier, name).toEqual(expect.arrayContaining([...allows]))
    })
  })

  it('P46 import only what src/README.md lets them', () => {
    expect(sources.flatMap((source) => wrongImports(byName, source))).toEqual([])
  })

  it('are pure where they say so', () => {
    const pure = sources.filter((source) => PURE.includes(roomOf(source.fileName)))
    expect(pure.length).toBeGreaterThan(20)
    expect(pure.flatMap(impurities)).toEqual([])
  })

  it('hold SQL only in store', () => {
    const others = sources.filter(
      ({ fileName }) => roomOf(fileName) !== 'store' && !EXAMPLES.includes(relative(SRC, fileName)),
    )
    expect(others.flatMap(sqlIn)).toEqual([])
  })

  it('have one query per file, named verb-noun', () => {
    for (const file of filesIn(join(SRC, 'store/queries'))) {
      expect(basename(file)).toMatch(/^[a-z]+(-[a-z]+)+(\.test)?\.ts$/)
    }
  })

  it('have no catch-all files', () => {
    const catch_all = /^(utils?|helpers?|types|common|misc|shared|lib|stuff)(\.test)?\.ts$/
    expect(filesIn(SRC).filter((file) => catch_all.test(basename(file)))).toEqual([])
    expect(
      filesIn(fileURLToPath(new URL('.', import.meta.url))).filter((file) => catch_all.test(basename(file))),
    ).toEqual([])
  })
})

describe('these checks notice', () => {
  const source = (path: string, text: string) =>
    ts.createSourceFile(join(SRC, path), text, ts.ScriptTarget.ESNext, true)

  it('an import upwards, of a type, dynamic or re-exported', () => {
    const texts = [
      `import { x } from '../store/database.ts'`,
      `import type { X } from '../store/database.ts'`,
      `export { x } from '../store/database.ts'`,
      `const x = await import('../store/database.ts')`,
      `type X = import('../store/database.ts').Database`,
      `import { y } from '../paidonce.ts'`,
    ]
    for (const text of texts) expect(wrongImports(byName, source('rules/x.ts', text)), text).toHaveLength(1)
    expect(wrongImports(byName, source('rules/x.ts', `import { y } from '../facts/fact.ts'`))).toEqual([])
    const store = (text: string) => wrongImports(byName, source('store/queries/x.ts', text))
    expect(store(`import { y } from '../../rules/rank.ts'`)).toHaveLength(1)
    expect(store(`import type { Y } from '../../rules/rank.ts'`)).toEqual([])
  })

  it('a clock, chance, waiting and the outside', () => {
    const texts = [
      'const now = Date.now()',
      'const now = new Date()',
      'const x = Math.random()',
      'async function f() {}',
      'const x = process.env',
      `import { readFileSync } from 'node:fs'`,
      'setTimeout(f, 1)',
    ]
    for (const text of texts) expect(impurities(source('rules/x.ts', text)), text).not.toEqual([])
    expect(impurities(source('rules/x.ts', `// Date.now() is not called\nconst d = new Date(0)`))).toEqual([])
  })

  it('SQL in a text', () => {
    const texts = [
      'select id from events',
      'insert into facts values (1)',
      'delete from facts',
      'update orders o set x = 1',
    ]
    for (const text of texts)
      expect(sqlIn(source('receive/x.ts', `const q = \`${text}\``)), text).toHaveLength(1)
    expect(sqlIn(source('receive/x.ts', `const q = 'savepoint paidonce_hook'`))).toEqual([])
  })
})
