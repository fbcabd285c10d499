import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const limits = { fileLines: 300, columns: 120, functionLines: 40, parameters: 4 }
const folders = ['src', 'test', 'bench', 'scripts']
const tablesOfData = ['test/contract/specification.ts']

const root = fileURLToPath(new URL('../../', import.meta.url))

type File = { name: string; text: string; lines: string[] }

const read = (name: string): File => {
  const text = readFileSync(path.join(root, name), 'utf8')
  return { name, text, lines: text.replace(/\n$/, '').split('\n') }
}

const files = folders
  .filter((folder) => existsSync(path.join(root, folder)))
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((each) =>
      path.posix.join(folder, each.replaceAll(path.sep, '/')),
    ),
  )
  .filter((name) => /\.(ts|mjs)$/.test(name) && !name.includes('node_modules/'))
  .sort()
  .map(read)

type Measured = { name: string; at: string; parameters: number; lines: number }

type FunctionNode = ts.FunctionLikeDeclaration

const isFunction = (node: ts.Node): node is FunctionNode =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined

const nearestFunctions = (node: ts.Node): FunctionNode[] => {
  const found: FunctionNode[] = []
  const look = (child: ts.Node): void => {
    if (isFunction(child)) found.push(child)
    else ts.forEachChild(child, look)
  }
  ts.forEachChild(node, look)
  return found
}

const allFunctions = (node: ts.Node): FunctionNode[] =>
  nearestFunctions(node).flatMap((each) => [each, ...allFunctions(each)])

// A line belongs to an inner function only when nothing but closing punctuation of the outer one stands on it:
// a chain of one-line callbacks is still the outer function's length.
const ownLines = (node: FunctionNode, source: ts.SourceFile): number => {
  const start = node.getStart(source)
  // From the last to the first, since marking a blank line changes the offsets behind it.
  const marked = nearestFunctions(node).reduceRight((text, inner) => {
    const [from, to] = [inner.getStart(source) - start, inner.getEnd() - start]
    const hidden = text.slice(from, to).replace(/[^\n]/g, '\0').replaceAll('\n', '\0\n\0')
    return text.slice(0, from) + hidden + text.slice(to)
  }, node.getText(source))
  const isOwn = (line: string) => !line.includes('\0') || line.replace(/[\0\s,;)\]}]/g, '') !== ''
  return marked.split('\n').filter(isOwn).length
}

const measure = (file: File): Measured[] => {
  const source = ts.createSourceFile(file.name, file.text, ts.ScriptTarget.Latest, true)
  return allFunctions(source).map((node) => ({
    name: file.name,
    at: `${file.name}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`,
    parameters: node.parameters.filter((each) => each.name.getText(source) !== 'this').length,
    lines: ownLines(node, source),
  }))
}

const functions = files.flatMap(measure)

const none = (found: string[], complaint: string) =>
  assert.ok(found.length === 0, `${complaint}\n  ${found.join('\n  ')}`)

test(`a file has at most ${limits.fileLines} lines`, () => {
  const long = files.filter(
    ({ name, lines }) => lines.length > limits.fileLines && !tablesOfData.includes(name),
  )
  none(
    long.map(({ name, lines }) => `${name}:${limits.fileLines + 1} has ${lines.length} lines`),
    'Split these files:',
  )
})

test(`a line has at most ${limits.columns} columns`, () => {
  const long = files.flatMap(({ name, lines }) =>
    lines.flatMap((line, at) => {
      const columns = [...line].length
      return columns > limits.columns ? [`${name}:${at + 1} has ${columns} columns`] : []
    }),
  )
  none(long, 'Break these lines:')
})

test(`a function has at most ${limits.functionLines} lines of its own`, () => {
  const long = functions.filter(
    ({ name, lines }) => lines > limits.functionLines && !/\.test\.\w+$/.test(name),
  )
  none(
    long.map(({ at, lines }) => `${at} has ${lines} lines`),
    'Split these functions:',
  )
})

test(`a function has at most ${limits.parameters} parameters`, () => {
  const wide = functions.filter(({ parameters }) => parameters > limits.parameters)
  none(
    wide.map(({ at, parameters }) => `${at} has ${parameters} parameters`),
    'Give these functions an object:',
  )
})
