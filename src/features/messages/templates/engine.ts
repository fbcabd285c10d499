import {
  Context,
  type Emitter,
  type FilterImplOptions,
  Liquid,
  filters as libraryFilters,
  toValue,
} from 'liquidjs'
import { AutoescapeTag } from './autoescape.ts'
import { CaptureTag } from './capture.ts'
import { countTexts } from './counted.ts'
import { strftimeOf, withWeek } from './date-format.ts'
import { EchoTag } from './echo.ts'
import { templateFault } from './fault.ts'
import { finishedFilters, pureFilters, sliced } from './filters.ts'
import { limits } from './limits.ts'
import { LoopTag } from './loop-tag.ts'
import { operators } from './operators.ts'
import { argumentEscape, argumentFilter } from './safe.ts'
import { timeLimit } from './time-limit.ts'
import {
  escapeHtml,
  Finished,
  isTrue,
  outerLoops,
  printed,
  readProperty,
  sizeOf,
  wholeSize,
} from './values.ts'
import { WithTag } from './with-tag.ts'

export type Kind = 'html' | 'text'

export const printers: Record<Kind, (value: unknown) => string> = {
  html: (value) => (value instanceof Finished ? value.text : escapeHtml(printed(value))),
  text: printed,
}

// They read files, or evaluate an expression for each entry without a check of the clock.
const refusedTags = ['include', 'render', 'layout', 'block']
const refusedFilters = /_exp$/

const aliases: Record<string, string> = {
  dictsort: 'sort',
  safeseq: 'safe',
  striptags: 'strip_html',
  wordcount: 'number_of_words',
}

// They take away white space only: text that was finished stays so.
const trimming = ['strip', 'lstrip', 'rstrip', 'strip_newlines']

// They read a property of each entry, and its name anew for each.
const naming = 'find find_index group_by has map reject sort sort_natural sum where'.split(' ')

// Of a list that is put into lists, and those into others, the library counts the entries of the last.
const nesting = ['push', 'unshift', 'concat']

export const engines: Record<Kind, Liquid> = { html: makeEngine('html'), text: makeEngine('text') }

function makeEngine(kind: Kind): Liquid {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    jsTruthy: true,
    outputEscape: printers[kind],
    operators,
    locale: 'en-US',
    timezoneOffset: 0,
    parseLimit: limits.sourceCharacters,
    memoryLimit: limits.memoryUnits,
    templates: {},
  })
  for (const tag of refusedTags) delete engine.tags[tag]
  engine.registerTag('autoescape', AutoescapeTag)
  engine.registerTag('capture', CaptureTag)
  engine.registerTag('echo', EchoTag)
  engine.registerTag('for', LoopTag)
  engine.registerTag('with', WithTag)
  for (const name of Object.keys(engine.filters)) if (refusedFilters.test(name)) delete engine.filters[name]
  registerFilters(engine)
  if (kind === 'html') engine.registerFilter(argumentFilter, argumentEscape)
  boundOutput(engine)
  return engine
}

function registerFilters(engine: Liquid): void {
  for (const [name, filter] of Object.entries(engine.filters))
    engine.registerFilter(name, countedTexts(filter))
  for (const [name, handler] of Object.entries(pureFilters)) engine.registerFilter(name, handler)
  for (const [name, handler] of Object.entries(finishedFilters))
    engine.registerFilter(name, { handler, raw: true })
  for (const name of naming) engine.registerFilter(name, shortlyNamed(handlerOf(engine.filters[name])))
  for (const [name, other] of Object.entries(aliases)) {
    const filter = engine.filters[other]
    if (filter) engine.registerFilter(name, filter)
  }
  for (const name of trimming) engine.registerFilter(name, keptFinished(handlerOf(engine.filters[name])))
  for (const name of nesting) engine.registerFilter(name, countedWhole(handlerOf(engine.filters[name])))
  engine.registerFilter('date', date)
  engine.registerFilter('time', date)
  engine.registerFilter('slice', slice)
  engine.registerFilter('split', countedTexts(split))
  engine.registerFilter('is_true', isTrue)
}

type Handler = ReturnType<typeof handlerOf>

// The library counts what most of its filters go through, but not all: some could lengthen a text again and again.
function countedTexts(filter: FilterImplOptions): FilterImplOptions {
  const library = handlerOf(filter)
  const handler: Handler = function (...given) {
    return countTexts(given, () => library.apply(this, given))
  }
  return typeof filter === 'function' ? handler : { ...filter, handler }
}

function keptFinished(handler: Handler): Handler {
  return function (value: unknown, ...args: unknown[]) {
    const result = handler.call(this, value, ...args)
    return value instanceof Finished ? new Finished(printed(result)) : result
  }
}

function countedWhole(handler: Handler): Handler {
  return function (list: unknown, added: unknown) {
    this.context.memoryLimit.use(wholeSize(toValue(added)))
    return handler.call(this, list, added)
  }
}

function shortlyNamed(handler: Handler): Handler {
  return function (list: unknown, property: unknown, ...args: unknown[]) {
    const name = typeof property === 'object' && property ? printed(property) : property
    if (typeof name === 'string' && name.length > limits.propertyCharacters)
      throw templateFault(`The name of a property has at most ${limits.propertyCharacters} characters.`)
    return handler.call(this, list, name, ...args)
  }
}

const libraryDate = handlerOf(libraryFilters.date)

function date(this: ThisParameterType<typeof libraryDate>, value: unknown, format?: unknown, zone?: unknown) {
  const ofLibrary = (asked: string | undefined) => libraryDate.call(this, value, asked, zone)
  if (format === undefined) return ofLibrary(undefined)
  return ofLibrary(withWeek(strftimeOf(formatOf(format)), () => printed(ofLibrary('%Y-%m-%d'))))
}

// One sign of a format becomes many, and the library looks neither at the clock nor at the length meanwhile.
function formatOf(given: unknown): string {
  const format = printed(given)
  if (format.length <= limits.dateFormatCharacters) return format
  throw templateFault(`The format of a date has at most ${limits.dateFormatCharacters} characters.`)
}

const librarySlice = handlerOf(libraryFilters.slice)

/** The provider's argument is a text; numbers are the library's. */
function slice(this: ThisParameterType<typeof librarySlice>, value: unknown, ...args: unknown[]) {
  const [range] = args
  if (typeof range !== 'string') return librarySlice.call(this, value, ...args)
  this.context.memoryLimit.use(sizeOf(toValue(value)))
  return sliced(toValue(value), range)
}

const librarySplit = handlerOf(libraryFilters.split)

/** Between characters, where nothing else is asked for: the library would split those that take two places. */
function split(this: ThisParameterType<typeof librarySplit>, value: unknown, separator: unknown) {
  if (printed(separator) !== '') return librarySplit.call(this, value, separator)
  const text = printed(value)
  this.context.memoryLimit.use(text.length)
  return [...text]
}

function handlerOf(filter: FilterImplOptions | undefined) {
  const handler = typeof filter === 'function' ? filter : filter?.handler
  if (!handler) throw new Error('The template library lacks a filter')
  return handler
}

// Tags such as capture render into a buffer of their own, which must be bounded too.
function boundOutput({ renderer }: Liquid): void {
  const render = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = (templates, context, emitter = boundedEmitter(context)) =>
    render(templates, context, emitter)
}

const written = 'posthorn.written'

function boundedEmitter(context: Context): Emitter {
  const emitter = {
    buffer: '',
    write(html: unknown) {
      const text = printed(html)
      const total = context.getRegister(written, 0) + text.length
      refuseTooLarge(total)
      context.setRegister(written, total)
      emitter.buffer += text
    },
  }
  return emitter
}

export function refuseTooLarge(characters: number): void {
  if (characters <= limits.outputCharacters) return
  throw templateFault(`The rendered template is larger than ${limits.outputCharacters} characters.`)
}

/** A context that reads only through `readProperty`, and looks at the clock while it does. */
export function contextFor(engine: Liquid, environment: object): Context {
  const context = new Context(environment, engine.options, { sync: true }, { liquid: engine })
  context.renderLimit.check = timeLimit()
  return guarded(context)
}

const readsBetweenChecks = 1_000

function guarded(context: Context): Context {
  const check = () => context.renderLimit.check(performance.now())
  let reads = 0
  context.readProperty = (holder, key) => {
    if (++reads % readsBetweenChecks === 0) check()
    return holder === context.globals ? undefined : readProperty(holder, key)
  }
  // Filters over lists, such as where, make a context for each entry.
  context.spawn = (scope) => {
    check()
    return guarded(Context.prototype.spawn.call(context, scope))
  }
  noteLoops(context)
  return context
}

function noteLoops(context: Context): void {
  const loops: object[] = []
  const loopOf = (scope: object | undefined) => (scope as { forloop?: object } | undefined)?.forloop
  context.push = (scope) => {
    const [loop, outer] = [loopOf(scope), loops.at(-1)]
    if (loop) loops.push(loop)
    if (loop && outer) outerLoops.set(loop, outer)
    return Context.prototype.push.call(context, scope)
  }
  context.pop = () => {
    const scope = Context.prototype.pop.call(context)
    if (loopOf(scope)) loops.pop()
    return scope
  }
}
