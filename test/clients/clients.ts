// The provider's own clients behind one face, each with nothing set but the address and the key. Operations have the
// names of the newest client.
import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

/** What a client gives is read by tests, which fail when something is not there. */
export type Loose = ReturnType<typeof JSON.parse>
export type Given = {
  args: Record<string, unknown>
  body?: unknown
  /** The newest client wants the body under a name of its own. */
  wrapped?: true
  /** The oldest client wants the body among the options. */
  optsBody?: string
}
type Answer = { status: number; body: Loose }
export type Fault = { status: number; code: unknown; message: unknown }
export type Client = {
  name: string
  /** Where its types are declared. */
  types?: string
  /** How to get from its exports to what a method gives. */
  typePath?: (method: string) => { named: string; through: string[]; body: boolean }
  /** Everything it offers, as `resource.method`. */
  offers: string[]
  call(method: string, given: Given): Promise<Answer>
  /** What its error shows to a program that catches it. */
  faultOf(error: Loose): Fault
}
type Address = { url: string; key: string }

const renamed: Record<string, string> = {
  'events.createEvent': 'event.createEvent',
  'senders.validateSenderByOTP': 'senders.validateSenderByOtp',
  'transactionalEmails.smtpBlockedContactsEmailDelete':
    'transactionalEmails.unblockOrResubscribeATransactionalContact',
  'transactionalEmails.smtpLogIdentifierDelete': 'transactionalEmails.deleteAnSmtpTransactionalLog',
  'transactionalEmails.smtpLogMessageIdDelete': 'transactionalEmails.deleteAnSmtpTransactionalLog',
}

export function newest({ url, key }: Address): Client {
  const { BrevoClient } = load('@getbrevo/brevo')
  const client = new BrevoClient({ apiKey: key, baseUrl: `${url}/v3`, maxRetries: 0 })
  const getters = Object.entries(Object.getOwnPropertyDescriptors(BrevoClient.prototype))
  const resources = getters.filter(([, { get }]) => get).map(([name]) => name)
  return {
    name: '@getbrevo/brevo 6',
    types: '@getbrevo/brevo/dist/cjs/index.d.ts',
    typePath: (method) => ({ named: 'BrevoClient', through: method.split('.'), body: false }),
    offers: resources.flatMap((resource) =>
      methodsOf(Object.getPrototypeOf(client[resource]))
        .filter((name) => !name.startsWith('_'))
        .map((name) => `${resource}.${name}`),
    ),
    async call(method, { args, body, wrapped }) {
      const [resource = '', name = ''] = method.split('.')
      const request = wrapped ? { ...args, body } : { ...args, ...(body as object) }
      const { data, rawResponse } = await client[resource][name](request).withRawResponse()
      return { status: rawResponse.status, body: data }
    },
    faultOf: ({ statusCode, body }) => ({ status: statusCode, ...pick(body ?? {}) }),
  }
}

const ofEveryApi = ['constructor', 'setDefaultAuthentication', 'setApiKey', 'addInterceptor']

const middleNames = { 2: 'brevo-2', 3: 'brevo-3' }

export function middle(version: 2 | 3, { url, key }: Address): Client {
  const library = load(middleNames[version])
  const offered = offeredBy(library, (api) =>
    methodsOf(api.prototype).filter((name) => !ofEveryApi.includes(name)),
  )
  return {
    name: `@getbrevo/brevo ${version}`,
    types: `${middleNames[version]}/dist/api.d.ts`,
    typePath: (method) => {
      const { api, name } = offered.get(method) ?? nothing
      return { named: api, through: [name], body: true }
    },
    offers: [...offered.keys()],
    async call(method, given) {
      const { api, name } = offered.get(method) ?? nothing
      const one = new library[api](`${url}/v3`)
      one.setApiKey(library[`${api}ApiKeys`].apiKey, key)
      const order = inOrder(one[name], { ...given, body: camelCased(given.body) })
      const { response, body } = await one[name](...order)
      return { status: response.statusCode, body }
    },
    faultOf: ({ response, body }) => ({
      status: response?.status ?? response?.statusCode,
      ...pick(response?.data ?? body ?? {}),
    }),
  }
}

export function oldest({ url, key }: Address): Client {
  const library = load('sib-api-v3-sdk')
  const { instance } = library.ApiClient
  instance.basePath = `${url}/v3`
  instance.authentications['api-key'].apiKey = key
  const offered = offeredBy(library, (Api) =>
    Object.entries(new Api())
      .filter(([name, value]) => typeof value === 'function' && !name.endsWith('WithHttpInfo'))
      .map(([name]) => name),
  )
  return {
    name: 'sib-api-v3-sdk 8',
    offers: [...offered.keys()],
    async call(method, given) {
      const { api, name } = offered.get(method) ?? nothing
      const one = new library[api]()
      const { data, response } = await one[`${name}WithHttpInfo`](...inOrder(one[name], given))
      return { status: response.status, body: data }
    },
    faultOf: ({ status, response }) => ({ status, ...pick(response?.body ?? {}) }),
  }
}

/** These clients have names of their own for what has an underscore on the wire. */
function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased)
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value
  const named = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(
    Object.entries(value as object).map(([name, inner]) => [named(name), camelCased(inner)]),
  )
}

const nothing = { api: '', name: '' }
const pick = ({ code, message }: Loose) => ({ code, message })

function methodsOf(prototype: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
    .map(([name]) => name)
}

function offeredBy(library: Loose, methods: (api: Loose) => string[]) {
  const apis = Object.keys(library).filter((name) => /Api$/.test(name) && typeof library[name] === 'function')
  return new Map(
    apis.flatMap((api) =>
      methods(library[api]).map((name) => {
        const method = `${api.charAt(0).toLowerCase()}${api.slice(1, -3)}.${name}`
        const known = method.replace(/^transactionalSMS\./, 'transactionalSms.')
        return [renamed[known] ?? known, { api, name }] as const
      }),
    ),
  )
}

/** Arguments by position, after the names of the parameters; the body takes the first place that nothing else has. */
function inOrder(method: (...given: never[]) => unknown, { args, body, optsBody }: Given): unknown[] {
  const [, list = ''] = /\(([^)]*)\)/.exec(String(method)) ?? []
  const names = list.split(',').map((one) => one.trim().replace(/_1$/, ''))
  const rest = Object.entries(args).filter(([name]) => !names.includes(name))
  let isPlaced = optsBody !== undefined && names.includes('opts')
  return names
    .filter((name) => name !== '' && !/^options\b|=|^\.\.\./.test(name))
    .map((name) => {
      if (Object.hasOwn(args, name)) return args[name]
      if (name === 'opts') return { ...Object.fromEntries(rest), ...(optsBody && { [optsBody]: body }) }
      if (isPlaced) return undefined
      isPlaced = true
      return body
    })
}
