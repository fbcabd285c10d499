import {
  Expression,
  Filter,
  type FilteredValueToken,
  type Liquid,
  Output,
  type Template,
  type Token,
  TypeGuards,
  Value,
} from 'liquidjs'
import { safeName } from './html-filters.ts'
import { filterToken, valueToken } from './tokens.ts'
import { escapeHtml, Finished, printed } from './values.ts'

// What is called safe stays so through the filters behind: the value, and what the author of the template writes into
// their arguments. A variable among these is escaped, for nobody called it safe.

const words = new Set(['safe', 'raw'])

// What these give may be markup that nobody saw when the value, or an argument, was called safe or escaped.
const decoding = new Set(['url_decode', 'base64_decode'])

export const argumentFilter = 'escape_argument'

type Argument = Filter['args'][number]

/** Of a template that prints its arguments, or keeps them for printing. */
export function keepSafe(engine: Liquid, template: Template): void {
  for (const argument of template.arguments?.() ?? [])
    if (argument instanceof Value) keepValueSafe(engine, argument, template instanceof Output)
    else if (TypeGuards.isFilteredValueToken(argument)) keepTokenSafe(engine, argument)
}

export const isCalledSafe = (filters: { name: string }[]) => safeAt(filters) >= 0

function safeAt(chain: { name: string }[]): number {
  const decoded = chain.findLastIndex(({ name }) => decoding.has(name))
  return chain.findIndex(({ name }, at) => at > decoded && words.has(name))
}

function keepValueSafe(engine: Liquid, { filters }: Value, isOutput: boolean): void {
  // The library has put its escaping at the end, unless the last filter's text is finished.
  const isEscaped = isOutput && filters.at(-1)?.raw !== true
  const behind = behindSafe(isEscaped ? filters.slice(0, -1) : filters)
  if (behind.length === 0) return
  if (isEscaped) filters.pop()
  filters.splice(-behind.length)
  for (const { name, args } of behind) filters.push(filterOf(engine, safeName(name), args))
  filters.push(filterOf(engine, 'safe', []))
  escapeArguments(engine, behind)
}

function keepTokenSafe(engine: Liquid, { filters }: FilteredValueToken): void {
  const behind = behindSafe(filters)
  if (behind.length === 0) return
  for (const filter of behind) filter.name = safeName(filter.name)
  filters.push(filterToken('safe', []))
  escapeArguments(engine, behind)
}

function behindSafe<Each extends { name: string }>(chain: Each[]): Each[] {
  const at = safeAt(chain)
  return at < 0 ? [] : chain.slice(at + 1)
}

function filterOf(engine: Liquid, name: string, args: Argument[]): Filter {
  return new Filter(filterToken(name, args), engine.filters[name], engine)
}

function escapeArguments(engine: Liquid, filters: { args: Argument[] }[]): void {
  for (const { args } of filters)
    for (const [i, argument] of args.entries())
      args[i] = Array.isArray(argument)
        ? [argument[0], argument[1] && escaped(engine, argument[1])]
        : escaped(engine, argument)
}

// Only where something is escaped at all does the engine have the filter.
function escaped(engine: Liquid, argument: Token): never {
  const isWritten =
    TypeGuards.isQuotedToken(argument) ||
    TypeGuards.isNumberToken(argument) ||
    TypeGuards.isLiteralToken(argument)
  if (isWritten || !engine.filters[argumentFilter]) return argument as never
  const { input, begin, end } = argument
  return valueToken(new Expression([argument]), [filterToken(argumentFilter, [])], {
    input,
    begin,
    end,
  }) as never
}

/** Of a list or an object nobody can say which parts are printed how. Numbers are the same escaped. */
export function argumentEscape(value: unknown): unknown {
  if (value instanceof Finished) return value.text
  const isText = typeof value === 'string' || (typeof value === 'object' && value !== null)
  return isText ? escapeHtml(printed(value)) : value
}
