import type { Action } from '../../kernel/refusal.ts'

export type Warning = { code: string; message: string; param?: string; hint?: string; action?: Action }

export function warnIf(
  holds: boolean,
  code: string,
  message: string,
  more: Pick<Warning, 'param' | 'hint' | 'action'>,
): Warning[] {
  return holds ? [{ code, message, ...more }] : []
}
