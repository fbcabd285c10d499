import {
  CycleTag,
  EchoTag,
  type Filter,
  IfTag,
  type Liquid,
  LiquidError,
  Output,
  ParseError,
  Parser,
  type Template,
  type Token,
  type TopLevelToken,
  TypeGuards,
  toValueSync,
  UnlessTag,
  Value,
} from 'liquidjs'
import { AutoescapeTag } from './autoescape.ts'
import { CaptureTag } from './capture.ts'
import { type TemplateFault, templateFault } from './fault.ts'
import { unknownFilter } from './hints.ts'
import { limits } from './limits.ts'
import { isWhole, reorder } from './operators.ts'
import { ownLinks } from './own-links.ts'
import { keepSafe } from './safe.ts'
import { outputOf, readAsDialect } from './tag-tokenizers.ts'
import { tokenize } from './tokenize.ts'
import { beginReading } from './tokens.ts'
import { WithTag } from './with-tag.ts'

function parserOf(engine: Liquid): Parser {
  const parser = new Parser(engine)
  const ofLibrary = parser.parseToken.bind(parser)
  parser.parseToken = (token, remaining) => {
    if (!TypeGuards.isOutputToken(token)) return ofLibrary(token, remaining)
    try {
      return outputOf(token, engine)
    } catch (error) {
      throw LiquidError.is(error) ? error : new ParseError(error as Error, token)
    }
  }
  // The tag liquid has lines that are tags themselves.
  const allOfLibrary = parser.parseTokens.bind(parser)
  let pieces = 0
  parser.parseTokens = (tokens) => {
    pieces += tokens.length
    if (pieces > limits.pieces)
      throw templateFault(`The template has more than ${limits.pieces} tags and outputs.`)
    return allOfLibrary(inDialect(engine, tokens))
  }
  return parser
}

function inDialect(engine: Liquid, tokens: TopLevelToken[]): TopLevelToken[] {
  refuseMalformed(tokens)
  for (const token of tokens) if (TypeGuards.isTagToken(token)) readAsDialect(token, engine.options.operators)
  return queueOf(tokens)
}

/** Reads the provider's dialect into the library's tree. */
export function parse(engine: Liquid, source: string): Template[] {
  if (source.length > limits.sourceCharacters)
    throw templateFault(`The template is longer than ${limits.sourceCharacters} characters.`)
  const tokens = tokenize(engine, source)
  dropSchemes(tokens)
  beginReading()
  const templates = parserOf(engine).parseTokens(tokens)
  adjust(engine, templates)
  return templates
}

function refuseMalformed(tokens: TopLevelToken[]): void {
  let isRead = true
  for (const token of tokens) {
    if (TypeGuards.isHTMLToken(token)) continue
    if (token.size() > limits.tagCharacters) throw faultAt(token, 'A tag is too long.')
    if (TypeGuards.isTagToken(token)) {
      if (isRead && token.args === '' && /^(?:firstof|now|with)$/.test(token.name))
        throw faultAt(token, `The tag ${token.name} is followed by a value.`)
      if (/^(end)?comment$/.test(token.name)) isRead = token.name === 'endcomment'
    }
    // The library would leave the bar out.
    if (isRead && token.content.endsWith('|')) throw faultAt(token, 'A filter is missing behind "|".')
  }
}

const linkNames = [...ownLinks, 'doubleoptin', 'params\\.DOIurl'].join('|')
const isOwnLink = new RegExp(`^(${linkNames})(?![\\w.[-])`)
const scheme = /https?:\/\/$/i

// Editors write http:// in front of what does not look like an address. These links begin with their own.
function dropSchemes(tokens: TopLevelToken[]): void {
  for (const [i, token] of tokens.entries()) {
    const text = tokens[i - 1]
    if (!TypeGuards.isOutputToken(token) || !text || !TypeGuards.isHTMLToken(text)) continue
    if (!isOwnLink.test(token.content)) continue
    // The end alone: looking through all of a long text at each link adds up.
    const [found] = scheme.exec(text.getContent().slice(-'https://'.length)) ?? ['']
    text.trimRight += found.length
  }
}

// The parser takes each token off the front, which moves all the others: 20 000 tokens took two seconds.
function queueOf<T>(items: T[]): T[] {
  const queue = items.reverse()
  queue.shift = queue.pop
  return queue
}

const printing = [Output, EchoTag, CycleTag, WithTag]

function adjust(engine: Liquid, templates: Template[], isEscaped = true): void {
  for (const template of templates) {
    for (const argument of template.arguments?.() ?? []) {
      const tokens = argument instanceof Value ? argument.initial.postfix : [argument]
      if (argument instanceof Value) putInOrder(template, argument.initial.postfix)
      adjustInner(engine, template, tokens)
      if (argument instanceof Value) adjustInner(engine, template, argument.filters.flatMap(argumentsOf))
    }
    if (printing.some((kind) => template instanceof kind)) keepSafe(engine, template)
    if (template instanceof IfTag || template instanceof UnlessTag) askForTruth(engine, template)
    if (template instanceof CaptureTag) template.isEscaped = isEscaped
    if (template instanceof Output && !isEscaped) leaveUnescaped(template)
    adjust(engine, childrenOf(template), template instanceof AutoescapeTag ? template.isEscaped : isEscaped)
  }
}

function putInOrder({ token }: Template, postfix: Token[]): void {
  if (!isWhole(postfix)) throw faultAt(token, 'An expression is malformed.')
  reorder(postfix)
}

/** What stands in brackets, or has filters of its own: the library looks these up when it renders. */
function adjustInner(engine: Liquid, template: Template, tokens: Token[]): void {
  for (const token of tokens) {
    if (!TypeGuards.isFilteredValueToken(token)) continue
    const unknown = token.filters.find(({ name }) => !Object.hasOwn(engine.filters, name))
    if (unknown) throw faultAt(template.token, unknownFilter(unknown.name))
    putInOrder(template, token.initial.postfix)
    adjustInner(engine, template, [...token.initial.postfix, ...token.filters.flatMap(argumentsOf)])
  }
}

const argumentsOf = ({ args }: Pick<Filter, 'args'>): Token[] =>
  args.flatMap((each) => (Array.isArray(each) ? (each[1] ?? []) : each))

function faultAt(token: Token, message: string): TemplateFault {
  const [line, column] = token.getPosition()
  return templateFault(message, line, column)
}

// The library takes an empty list for true.
function askForTruth(engine: Liquid, { branches }: IfTag | UnlessTag): void {
  const { filters } = new Value('0 | is_true', engine)
  for (const { value } of branches) value.filters.push(...filters)
}

// The library has put its escaping at the end, unless the last filter's text is finished.
function leaveUnescaped({ value: { filters } }: Output): void {
  if (filters.at(-1)?.raw !== true) filters.pop()
}

export function childrenOf(template: Template): Template[] {
  return template.children ? toValueSync(template.children(false, true)) : []
}
