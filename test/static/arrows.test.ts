import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

// Each layer with the layers it may import besides itself.
const layers: Record<string, string[]> = {
  kernel: [],
  features: ['kernel'],
  gates: ['kernel', 'features'],
  faces: ['kernel', 'features', 'gates'],
  adapters: ['kernel'],
  main: ['kernel', 'features', 'gates', 'faces', 'adapters'],
}

// A feature may import from the rows above its own.
const featureRows = [
  ['accounts'],
  ['suppressions', 'domains', 'media'],
  ['contacts'],
  ['messages'],
  ['unsubscribe', 'transactional'],
  ['campaigns', 'outreach', 'events', 'senders', 'sms'],
  ['statistics', 'webhooks'],
  ['privacy', 'discovery', 'deliverability'],
]

// `http` may import the others, to register them; no other face knows a face.
const faces = ['http', 'openapi', 'mcp', 'metrics', 'smtp', 'pages', 'provider-events', 'console']

const root = fileURLToPath(new URL('../../', import.meta.url))

type File = { name: string; text: string; source: ts.SourceFile }

const parse = (name: string): File => {
  const text = readFileSync(path.join(root, name), 'utf8')
  return { name, text, source: ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true) }
}

const filesUnder = (folder: string, ending: RegExp): string[] =>
  existsSync(path.join(root, folder))
    ? readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((each) => path.posix.join(folder, each.replaceAll(path.sep, '/')))
        .filter((name) => ending.test(name) && !name.includes('node_modules/'))
        .sort()
    : []

const files = filesUnder('src', /\.[cm]?[jt]sx?$/).map(parse)

const isTestCode = (name: string) => /\.test\.\w+$/.test(name) || name.includes('/fixtures/')
const featureRow = (feature: string) => featureRows.findIndex((row) => row.includes(feature))
const lineAt = ({ source }: File, position: number) => source.getLineAndCharacterOfPosition(position).line + 1

const none = (found: string[], complaint: string) =>
  assert.ok(found.length === 0, `${complaint}\n  ${found.join('\n  ')}`)

const linesWith = (file: File, pattern: RegExp) =>
  file.text
    .split('\n')
    .flatMap((line, at) => (pattern.test(line) ? [`${file.name}:${at + 1} ${line.trim()}`] : []))

const nodesOf = (node: ts.Node): ts.Node[] => {
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => {
    children.push(...nodesOf(child))
  })
  return [node, ...children]
}

type Place = { layer: string; part: string }
type Arrow = { at: string; from: Place; to: Place; says: string }

// `part` is the feature or face folder; in other layers it means nothing.
const placeOf = (name: string): Place => {
  const [top = '', layer = '', part = ''] = name.split('/')
  return top === 'src' ? { layer, part } : { layer: `${top} (outside src)`, part: '' }
}

const imports = (file: File) =>
  ts.preProcessFile(file.text, true, true).importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    at: `${file.name}:${lineAt(file, pos)}`,
  }))

const arrowsOf = (file: File): Arrow[] =>
  imports(file)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, at }) => ({
      at,
      from: placeOf(file.name),
      to: placeOf(path.posix.join(path.posix.dirname(file.name), specifier)),
      says: `${at} imports ${specifier}`,
    }))

const arrows = files.filter(({ name }) => !isTestCode(name)).flatMap(arrowsOf)
const within = (layer: string) =>
  arrows.filter(({ from, to }) => from.layer === layer && to.layer === layer && from.part !== to.part)

test('every folder of src, every feature and every face has its place in the tables', () => {
  const homeless = files.flatMap(({ name }) => {
    const { layer, part } = placeOf(name)
    if (!(layer in layers)) return [`src/${layer}`]
    if (layer === 'features' && featureRow(part) < 0) return [`src/features/${part}`]
    if (layer === 'faces' && !faces.includes(part)) return [`src/faces/${part}`]
    return []
  })
  none([...new Set(homeless)], 'Not in the tables of test/static/arrows.test.ts:')
})

test('a layer imports only the layers below it', () => {
  const wrong = arrows.filter(({ from, to }) => {
    const allowed = layers[from.layer] ?? []
    return from.layer !== 'main' && from.layer !== to.layer && !allowed.includes(to.layer)
  })
  none(
    wrong.map(
      ({ says, from }) => `${says} (${from.layer} may import ${layers[from.layer]?.join(', ') || 'none'})`,
    ),
    'Against the order of the layers:',
  )
})

test('a feature imports only the features of the rows above its own', () => {
  const wrong = within('features').filter(({ from, to }) => featureRow(to.part) >= featureRow(from.part))
  none(
    wrong.map(({ says }) => says),
    'Against the order of the features:',
  )
})

test('a face imports no other face, except http which registers them', () => {
  const wrong = within('faces').filter(({ from }) => from.part !== 'http')
  none(
    wrong.map(({ says }) => says),
    'Faces that know each other:',
  )
})

test('only src/main/config.ts reads the environment', () => {
  const allowed = /^src\/(main\/config\.ts$|adapters\/embedded-postgres.*\.test\.ts$)/
  const read =
    /\bprocess(\.|\?\.|\[['"])env\b|\{[^}]*\benv\b[^}]*\} *(from ['"](node:)?process['"]|= process\b(?!\.))/
  none(
    files
      .filter(({ name }) => !allowed.test(name) && !isTestCode(name))
      .flatMap((file) => linesWith(file, read)),
    'process.env outside src/main/config.ts:',
  )
})

test('only src/faces/http imports fastify', () => {
  const outside = files.filter(({ name }) => !name.startsWith('src/faces/http/') && !isTestCode(name))
  const found = outside.flatMap(imports).filter(({ specifier }) => /^fastify(\/|$)/.test(specifier))
  none(
    found.map(({ at }) => at),
    'fastify outside src/faces/http:',
  )
})

test('a running service has its own files from the start: they may be gone later', () => {
  const found = files.filter(({ name }) => !name.startsWith('src/main/') && !isTestCode(name))
  none(
    found.flatMap((file) => linesWith(file, /\bimport\(['"]\./)),
    'Loaded only when it is needed:',
  )
})

test('SQL stands only in queries.ts, *-queries.ts and the kernel', () => {
  const allowed = /^src\/kernel\/|\/([\w.-]+-)?queries\.ts$/
  none(
    files
      .filter(({ name }) => !allowed.test(name) && !isTestCode(name))
      .flatMap((file) => linesWith(file, /\bsql(<[^`]*>)?`/)),
    'SQL in the wrong file:',
  )
})

const readsClock = (node: ts.Node) =>
  (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) ||
  (ts.isPropertyAccessExpression(node) && node.getText() === 'Date.now')

test('a feature takes the time from its context', () => {
  const features = files.filter(({ name }) => name.startsWith('src/features/') && !isTestCode(name))
  const found = features.flatMap((file) =>
    nodesOf(file.source)
      .filter(readsClock)
      .map((node) => `${file.name}:${lineAt(file, node.getStart())} ${node.getText()}`),
  )
  none(found, 'The machine clock read in a feature:')
})

// The body of each `create table` up to the parenthesis that closes it.
const tableBodies = (ddl: string) =>
  [
    ...ddl.matchAll(/create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(?:\w+\.)?"?(\w+)"?\s*\(/gi),
  ].map(({ 0: opening, 1: table = '', index }) => {
    const start = index + opening.length
    let [depth, end] = [1, start]
    for (; depth > 0 && end < ddl.length; end++) depth += { '(': 1, ')': -1 }[ddl.charAt(end)] ?? 0
    return { table, body: ddl.slice(start, end - 1) }
  })

const accountTables = () => {
  const ddl = filesUnder('db/migrations', /\.sql$/)
    .map((name) => readFileSync(path.join(root, name), 'utf8').replace(/--.*/g, ''))
    .join('\n')
  return tableBodies(ddl)
    .filter(({ body }) => /(^|,)\s*"?account_id"?\s/i.test(body))
    .map(({ table }) => table)
}

// An inner piece of SQL is left out: what it names may be conditional, so it vouches for itself and not for the whole.
const sqlText = ({ template }: ts.TaggedTemplateExpression) =>
  ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : [template.head.text, ...template.templateSpans.map((span) => span.literal.text)].join(' ? ')

const isSql = (node: ts.Node): node is ts.TaggedTemplateExpression =>
  ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'sql'

const withEnclosing = (node: ts.Node): string[] =>
  (node.parent ? withEnclosing(node.parent) : []).concat(isSql(node) ? sqlText(node) : [])

const isSafe = (node: ts.TaggedTemplateExpression, mentions: RegExp) => {
  const code = (text: string) => text.replace(/--.*/g, '').replace(/'[^']*'/g, "''")
  const all = withEnclosing(node)
  return (
    !mentions.test(code(sqlText(node))) ||
    all.some((text) => /\baccount_id\b/i.test(code(text)) || /-- all accounts:[ \t]*\S/.test(text))
  )
}

test("every statement of an account's table names account_id", () => {
  const tables = accountTables()
  const statements = files
    .filter(({ name }) => /^src\/features\/.*queries\.ts$/.test(name))
    .flatMap((file) =>
      nodesOf(file.source)
        .filter(isSql)
        .map((node) => ({ file, node })),
    )
  assert.ok(tables.length > 0 || statements.length === 0, 'No table with account_id found in db/migrations')
  const mentions = new RegExp(`\\b(${tables.join('|')})\\b`, 'i')
  const unsafe = statements.filter(({ node }) => !isSafe(node, mentions))
  none(
    unsafe.map(({ file, node }) => {
      const [table] = sqlText(node).match(mentions) ?? ['']
      return `${file.name}:${lineAt(file, node.getStart())} reads or writes ${table}`
    }),
    'Without account_id; name it, or say why not in the SQL with "-- all accounts: reason":',
  )
})
