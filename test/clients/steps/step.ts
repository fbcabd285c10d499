import type { App } from '../../app.ts'
import type { Given, Loose } from '../clients.ts'

/** What one step leaves to those after it. */
export type State = Record<string, Loose>

export type Step = Partial<Pick<Given, 'wrapped' | 'optsBody'>> & {
  does: string
  /** Arguments by their names. */
  args?: (s: State) => Record<string, unknown>
  body?: (s: State) => unknown
  /** 200 when absent. */
  status?: number
  /** What is done for a client that cannot do it. */
  otherwise?: (s: State, app: AccountApp) => Promise<void>
  before?: (s: State, app: AccountApp) => Promise<void>
  /** What its answer has to show, and what later steps take from it. */
  gives?: (answer: Loose, s: State) => void
}

/** The service as the account of the client sees it. */
export type AccountApp = { call: (method: string, path: string, body?: unknown) => ReturnType<App['call']> }
