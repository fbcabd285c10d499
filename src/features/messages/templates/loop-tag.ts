import {
  type Context,
  type Emitter,
  evalToken,
  ForTag,
  type Liquid,
  type Parser,
  type TagToken,
  type Template,
  Tokenizer,
  type TopLevelToken,
  TypeGuards,
  toValue,
  type ValueToken,
} from 'liquidjs'
import { compared } from './arithmetic.ts'
import { templateFault } from './fault.ts'
import { LoopTokenizer, loopSettings } from './tag-tokenizers.ts'
import { Entry, sizeOf } from './values.ts'
import { countWork } from './work.ts'

/** What an object is asked for in the provider's language, where it has no field of that name. */
const views: Record<string, (entry: Entry) => unknown> = {
  items: (entry) => entry,
  keys: ({ key }) => key,
  values: ({ value }) => value,
}

type Rendering = ReturnType<ForTag['render']>

/** `{% for key, value in object sorted reversed %}`. A class, because the library wants its tags so. */
export class LoopTag extends ForTag {
  private readonly names: string[]
  /** Of `object.items` the object, and what is asked of it. */
  private readonly holder: ValueToken | undefined
  private readonly view: string

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, remaining, liquid, parser)
    const names = this.tokenizer instanceof LoopTokenizer ? this.tokenizer.moreNames : []
    this.names = names.length > 0 ? [this.variable, ...names] : []
    if (!this.tokenizer.end() || !Object.keys(this.hash.hash).every((name) => loopSettings.includes(name)))
      throw templateFault(`Behind its list a loop takes ${loopSettings.join(', ')}.`)
    const [, path, view = ''] = /^(.+)\.(items|keys|values)$/s.exec(this.collection.getText()) ?? []
    const isPath = path !== undefined && TypeGuards.isPropertyAccessToken(this.collection)
    this.holder = isPath ? new Tokenizer(path, liquid.options.operators).readValue() : undefined
    this.view = view
  }

  override *render(context: Context, emitter: Emitter): Rendering {
    const items = yield* this.itemsIn(context)
    const collection = Object.assign(Object.create(this.collection), { content: items })
    const inside = { token: this.token, render: (...given: [Context, Emitter]) => this.renderNamed(...given) }
    const templates = this.names.length > 0 ? [inside] : this.templates
    // The library's own loop, over what was found here.
    yield* super.render.call(Object.assign(Object.create(this), { collection, templates }), context, emitter)
  }

  private *itemsIn(context: Context): Generator<unknown, unknown, Template[]> {
    const found: unknown = yield evalToken(this.collection, context)
    const isView = this.holder !== undefined && (found === undefined || found === null)
    const holder: unknown = toValue(isView ? yield evalToken(this.holder, context) : found)
    const items = listOf(isView ? asObject(holder) : holder, views[isView ? this.view : 'items'])
    if (!Array.isArray(items)) return items
    const isSorted = 'sorted' in this.hash.hash
    if (isSorted || items !== found) context.memoryLimit.use(items.length)
    return isSorted ? sorted(items) : items
  }

  private *renderNamed(context: Context, emitter: Emitter): Generator<unknown, void, never> {
    const item: unknown = context.getSync([this.variable])
    const parts = item instanceof Entry ? [item.key, item.value] : Array.isArray(item) ? item : [item]
    context.push(Object.fromEntries(this.names.map((name, at) => [name, parts[at]])))
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
    context.pop()
  }

  override *arguments(): Generator<ValueToken> {
    const [collection, ...others] = super.arguments() as Iterable<ValueToken>
    const known = this.names.length > 0 ? (this.holder ?? collection) : collection
    yield* known ? [known, ...others] : others
  }

  override blockScope(): Iterable<string> {
    return [...super.blockScope(), ...this.names]
  }
}

const asObject = (value: unknown) => (Array.isArray(value) ? undefined : value)

function listOf(value: unknown, view: ((entry: Entry) => unknown) | undefined): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
    return value
  countWork(sizeOf(value))
  return Object.entries(value).map(([key, inner]) => (view ?? String)(new Entry(key, inner)))
}

function sorted(items: unknown[]): unknown[] {
  return items.toSorted((one, other) => {
    countWork(1)
    return compared(one, other) || 0
  })
}
