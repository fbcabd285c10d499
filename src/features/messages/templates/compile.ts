import { hash } from 'node:crypto'
import { type Template, toValueSync } from 'liquidjs'
import { LRUCache } from 'lru-cache'
import { analyse } from './analyse.ts'
import { contextFor, engines, type Kind, printers } from './engine.ts'
import { type Environment, joined, type TemplatePart, templateParts } from './fast-path.ts'
import { faultOf } from './fault.ts'
import { parse } from './parse.ts'
import { inTurn, type RenderTime } from './turns.ts'
import { readPath } from './values.ts'
import { beginRendering } from './work.ts'

export type TemplateScope = {
  params?: unknown
  contact?: Record<string, unknown>
  event?: unknown
  unsubscribe_url?: string
  preferences_url?: string
  mirror?: string
  /** The moment of the rendering. */
  time_now?: Date | string
  [name: string]: unknown
}

export type CompiledTemplate = {
  /** `time`: of the request, where it renders several. */
  render(scope: TemplateScope, time?: RenderTime): Promise<string>
  /** Of one that only puts values into a text: the text and the values, in their order. */
  parts: TemplatePart[] | undefined
  /** The variables it reads, as dotted paths. */
  variables: string[]
  /** Those that leave a hole when they are absent, as lists of keys. */
  needs: string[][]
}

/** HTML escapes what it prints; text (subjects, text parts) does not. */
export function compileTemplate(source: string, kind: Kind): CompiledTemplate {
  try {
    const templates = parse(engines[kind], source)
    const { reads, needs } = analyse(templates)
    const parts = templateParts(templates, printers[kind])
    const run = parts
      ? (environment: Environment) => joined(parts, environment)
      : slowTemplate(templates, kind)
    const variables = reads.map((path) => path.join('.'))
    return { render: renderWith(run, reads.length > 0 || !parts), parts, variables, needs }
  } catch (error) {
    throw faultOf(error)
  }
}

type Run = (environment: Environment) => string

/** The library writes into what it is given: a counter lives there. */
function renderWith(run: Run, needsOwn: boolean): CompiledTemplate['render'] {
  return async (scope, time) => {
    try {
      return await inTurn(() => run(needsOwn ? environmentOf(scope) : nothing), time)
    } catch (error) {
      throw faultOf(error)
    }
  }
}

/** By the library alone, without the fast path. */
export function slowTemplate(templates: Template[], kind: Kind): Run {
  const engine = engines[kind]
  return (environment) => {
    beginRendering()
    return toValueSync(engine.renderer.renderTemplates(templates, contextFor(engine, environment)))
  }
}

/** What the template sees: no prototype, the provider's names for the links, its words for the constants. */
export function environmentOf(scope: TemplateScope): Environment {
  return Object.assign(Object.create(null), constants, scope, {
    unsubscribe: scope.unsubscribe ?? scope.unsubscribe_url,
    update_profile: scope.update_profile ?? scope.preferences_url,
  })
}

const constants = { True: true, False: false, None: null }
const nothing = environmentOf({})

/** The variables that the template would print as nothing. */
export function missingVariables(compiled: CompiledTemplate, scope: TemplateScope): string[] {
  beginRendering()
  const environment = environmentOf(scope)
  const isMissing = (path: string[]) => {
    const value = readPath(environment, path)
    return value === undefined || value === null
  }
  return compiled.needs.filter(isMissing).map((path) => path.join('.'))
}

const cachedCharacters = 64_000_000

/** Compiles each source once and forgets the one that was not used for longest. */
export function templateCache({ max }: { max: number }): typeof compileTemplate {
  const cache = new LRUCache<string, CompiledTemplate>({ max, maxSize: cachedCharacters })
  return (source, kind) => {
    const key = `${kind}:${hash('sha256', source, 'base64')}`
    const known = cache.get(key)
    if (known) return known
    const compiled = compileTemplate(source, kind)
    cache.set(key, compiled, { size: source.length + 1 })
    return compiled
  }
}
