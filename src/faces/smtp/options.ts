export type RelayLogin = { user: string; password: string; ip: string; requestId: string }

/** Whatever `login` gave back. */
export type RelaySession<S> = S

export type RelayMail = {
  /** Empty for the null sender `<>`. */
  envelopeFrom: string
  recipients: string[]
  raw: Buffer
  requestId: string
  ip: string
}

export type RelayTimeouts = {
  /** For one command, and for a silence in the middle of a message. */
  idleMs?: number
  /** From our 354 to our answer to the whole message. */
  dataMs?: number
  /** A session that brings no message for so long is ended. */
  totalMs?: number
}

export type RelayOptions<S> = {
  host: string
  /** 0 picks a spare port. */
  port: number
  securePort?: number
  tls: { key: string | Buffer; cert: string | Buffer } | null
  /** Passwords over a bare connection: only for installations that listen on the loopback. */
  allowPlainAuth: boolean
  /** Our host name in the greeting. */
  name: string
  maxBytes: number
  maxRecipients: number
  maxConnections: number
  maxConnectionsPerIp: number
  /** How much memory large messages may take while they come in and are stored. */
  room: { ofOne: number; ofAll: number }
  /** Whose a session is; each has a part of the room. */
  ownerOf(session: RelaySession<S>): string
  login(login: RelayLogin): Promise<RelaySession<S>>
  checkSender?(session: RelaySession<S>, address: string): Promise<void>
  checkRecipient?(session: RelaySession<S>, address: string): Promise<void>
  /** Resolves only when the message is committed: the client is told that it is ours. */
  accept(session: RelaySession<S>, mail: RelayMail): Promise<{ id: string }>
  log?: (event: object) => void
  timeouts?: RelayTimeouts
}
