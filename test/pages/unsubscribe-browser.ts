// Chromium without a window, driven over its debugging pipe: clicks and keys as a person would give them.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails if it is not there
type Said = any
type Send = (method: string, params?: object) => Promise<Said>

export type Tab = {
  open(url: string): Promise<void>
  /** The value of an expression in the page, which itself runs no script. */
  evaluate<T>(expression: string): Promise<T>
  /** What it does must lead to another page. */
  andThen(act: () => Promise<void>): Promise<void>
  click(selector: string): Promise<void>
  press(key: 'Tab' | 'Enter' | ' '): Promise<void>
  look(as: { width?: number; height?: number; language?: string; dark?: boolean }): Promise<void>
  picture(): Promise<Buffer>
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--hide-scrollbars',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--remote-debugging-pipe',
]

export async function openBrowser(): Promise<{ newTab(): Promise<Tab>; close(): Promise<void> }> {
  const profile = await mkdtemp(join(tmpdir(), 'posthorn-browser-'))
  const child = spawn('chromium', [...flags, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  const { send, next } = over(child)
  return {
    newTab: async () => {
      const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
      const tab = tabOver((method, params) => send(method, params, sessionId), next(sessionId))
      await send('Page.enable', {}, sessionId)
      return tab
    },
    close: async () => {
      const ended = once(child, 'exit')
      await send('Browser.close')
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

/** Messages are JSON with a NUL behind each. */
function over(child: ChildProcess) {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const waiting = new Map<number, { resolve: (said: Said) => void; reject: (error: Error) => void }>()
  const listeners: ((said: Said) => void)[] = []
  let [rest, lastId] = ['', 0]
  output.setEncoding('utf8').on('data', (piece: string) => {
    const messages = (rest + piece).split('\0')
    rest = messages.pop() ?? ''
    for (const said of messages.map((message) => JSON.parse(message))) {
      const asked = waiting.get(said.id)
      if (said.error) asked?.reject(new Error(said.error.message))
      else if (asked) asked.resolve(said.result)
      else for (const listen of listeners) listen(said)
    }
  })
  const send = (method: string, params: object = {}, sessionId?: string): Promise<Said> =>
    new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve, reject })
      input.write(`${JSON.stringify({ id: lastId, method, params, sessionId })}\0`)
    })
  const next = (sessionId: string) => (method: string) =>
    new Promise<void>((resolve) => {
      listeners.push((said) => said.method === method && said.sessionId === sessionId && resolve())
    })
  return { send, next }
}

const codes = { Tab: 9, Enter: 13, ' ': 32 } as const

function tabOver(send: Send, next: (method: string) => Promise<void>): Tab {
  const evaluate = async (expression: string) =>
    (await send('Runtime.evaluate', { expression, returnByValue: true })).result.value
  const andThen = async (act: () => Promise<void>) => {
    const loaded = next('Page.loadEventFired')
    await act()
    await loaded
  }
  return {
    evaluate,
    andThen,
    open: (url) => andThen(() => send('Page.navigate', { url })),
    click: async (selector) => {
      const middle = `(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView()
        const b = e.getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 } })()`
      const at = { ...(await evaluate(middle)), button: 'left', clickCount: 1 }
      for (const type of ['mousePressed', 'mouseReleased'])
        await send('Input.dispatchMouseEvent', { type, ...at })
    },
    press: async (key) => {
      const text = key === 'Tab' ? undefined : key === 'Enter' ? '\r' : key
      const about = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: codes[key] }
      await send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', text, ...about })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...about })
    },
    look: async ({ width = 1100, height = 760, language = 'en', dark = false }) => {
      const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 500 }
      await send('Emulation.setDeviceMetricsOverride', metrics)
      await send('Network.enable')
      await send('Network.setExtraHTTPHeaders', { headers: { 'accept-language': language } })
      const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]
      await send('Emulation.setEmulatedMedia', { features })
    },
    picture: async () =>
      Buffer.from((await send('Page.captureScreenshot', { format: 'png' })).data, 'base64'),
  }
}
