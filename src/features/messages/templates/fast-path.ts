import { CommentTag, type FilteredValueToken, Output, type Template, type Token, TypeGuards } from 'liquidjs'
import { staticKey } from './analyse.ts'
import type { PureFilter } from './counted.ts'
import { refuseTooLarge } from './engine.ts'
import { finishedFilters, pureFilters } from './filters.ts'
import { argumentEscape, argumentFilter } from './safe.ts'
import { printed, readPath } from './values.ts'
import { beginRendering } from './work.ts'

// Most templates are text with variables and a few filters. The library walks generators for each of them; here
// they become a list of strings and small functions. It is built from the library's own tree, and reads, filters
// and prints with the very functions that the library is given, so that the result is the same.

export type Environment = Record<string, unknown>
type Read = (environment: Environment) => unknown

/** Where a value is put in: a variable as it stands has a name; one that may be markup is not escaped. */
export type Gap = { print: (environment: Environment) => string; name?: string; mayBeMarkup: boolean }
export type TemplatePart = string | Gap

/** Nothing where the template needs the library. */
export function templateParts(
  templates: Template[],
  print: (value: unknown) => string,
): TemplatePart[] | undefined {
  const parts: TemplatePart[] = []
  for (const template of templates) {
    if (template instanceof CommentTag) continue
    const part = partOf(template, print)
    if (part === undefined) return undefined
    parts.push(part)
  }
  return parts
}

export function joined(parts: TemplatePart[], environment: Environment): string {
  beginRendering()
  let text = ''
  for (const part of parts) {
    text += typeof part === 'string' ? part : part.print(environment)
    refuseTooLarge(text.length)
  }
  return text
}

function partOf(template: Template, print: (value: unknown) => string): TemplatePart | undefined {
  if (TypeGuards.isHTMLToken(template.token)) return template.token.getContent()
  if (!(template instanceof Output)) return undefined
  const { initial, filters } = template.value
  const [token, ...more] = initial.postfix
  const source = token && more.length === 0 ? readOf(token) : undefined
  if (!source) return undefined
  // The library has put its escaping at the end, unless the last filter's text is finished.
  const isFinished = filters.at(-1)?.raw === true
  const asked = isFinished ? filters : filters.slice(0, -1)
  let { read } = source
  for (const { name, args } of asked) {
    const filtered = withFilter(read, name, args)
    if (!filtered) return undefined
    read = filtered
  }
  const write = isFinished ? printed : print
  const name = asked.length === 0 ? source.name : undefined
  return { print: (environment) => write(read(environment)), name, mayBeMarkup: isFinished }
}

function withFilter(read: Read, name: string, args: unknown[]): Read | undefined {
  const filter = filterOf(name)
  const readers = args.map((each) => (Array.isArray(each) ? undefined : readOf(each as Token)?.read))
  if (!filter || !readers.every((each) => each !== undefined)) return undefined
  const [first, ...more] = readers
  if (!first) return (environment) => filter(read(environment))
  if (more.length === 0) return (environment) => filter(read(environment), first(environment))
  return (environment) => filter(read(environment), ...readers.map((each) => each(environment)))
}

function filterOf(name: string): PureFilter | undefined {
  if (Object.hasOwn(pureFilters, name)) return pureFilters[name]
  return Object.hasOwn(finishedFilters, name) ? finishedFilters[name] : undefined
}

function readOf(token: Token): { read: Read; name?: string } | undefined {
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) {
    const { content } = token
    return { read: () => content }
  }
  if (TypeGuards.isFilteredValueToken(token)) return readEscaped(token)
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable) return undefined
  const path = token.props.map(staticKey)
  if (typeof path[0] !== 'string' || path.includes(undefined)) return undefined
  return { read: (environment) => readPath(environment, path), name: path.join('.') }
}

function readEscaped({ initial, filters }: FilteredValueToken): { read: Read } | undefined {
  const [value, ...more] = initial.postfix
  const source = value && readOf(value)
  if (!source || more.length > 0 || filters.length !== 1 || filters[0]?.name !== argumentFilter)
    return undefined
  return { read: (environment) => argumentEscape(source.read(environment)) }
}
