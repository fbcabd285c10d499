import type { Outcome, Said } from '../../kernel/ports.ts'
import type { Blame } from './blame.ts'
import type { Answer, Channel } from './channel.ts'
import { deferredByTransport, outcomeOf, saidBy, shuttingDown, tooLarge, unanswered } from './outcome.ts'
import type { Session } from './session.ts'

/** A message on its way, for one recipient. */
export type Job = {
  id: string
  from: string
  to: string
  size: number
  wire: string
  isAscii: boolean
  retried: boolean
  settle(outcome: Outcome): void
}

export type Desk = {
  /** The next message for this connection, if there is one and the connection may carry it. */
  take(session: Session): Job | undefined
  /** False when the process is about to stop. */
  mayBeginText(): boolean
  /** For another connection to carry. */
  giveBack(job: Job, said: Said): void
  /** The server has answered for a message. */
  answered(session: Session): void
  /** Whose fault a refusal in the middle of a message is. */
  blame: Blame
}

type Refusal = { answer: Answer; stage?: 'mail' }
type Begun = { job: Job; refusal: Promise<Refusal | undefined> }

/**
 * Carries messages until the desk has no more. Where the server allows it (RFC 2920 3.1), an envelope leaves
 * in one packet, and the next envelope in the same packet as the end of the message before it.
 */
export async function carry(session: Session, desk: Desk): Promise<void> {
  let begun = begin(session, desk)
  while (begun) {
    const { job } = begun
    const refusal = await begun.refusal
    if (refusal) conclude(session, desk, { job, ...refusal, mayBeThere: false })
    else if (!desk.mayBeginText()) return leave(session, desk, job)
    const next: Begun | undefined = refusal ? undefined : await carryBody(session, desk, job)
    begun = next ?? begin(session, desk)
  }
}

/** Only its envelope is there: without a text the server forgets it. */
function leave({ channel }: Session, desk: Desk, job: Job): void {
  channel.abandon(shuttingDown)
  desk.giveBack(job, shuttingDown)
}

function begin(session: Session, desk: Desk): Begun | undefined {
  for (;;) {
    const job = session.channel.loss() ? undefined : desk.take(session)
    if (job === undefined) return undefined
    if (session.sizeLimit && job.size > session.sizeLimit) {
      job.settle(tooLarge(job.size, session.sizeLimit))
      continue
    }
    session.begun += 1
    return { job, refusal: session.pipelining ? announceAtOnce(session, job) : announce(session, job) }
  }
}

function commandsFor({ from, to, size, isAscii }: Job, session: Session): [string, string, string] {
  const announced = session.sizeLimit === null ? '' : ` SIZE=${size}`
  const body = isAscii || !session.eightBit ? '' : ' BODY=8BITMIME'
  return [`MAIL FROM:<${from}>${announced}${body}\r\n`, `RCPT TO:<${to}>\r\n`, 'DATA\r\n']
}

/** The answer that stands against the message; undefined when the server waits for its text. */
async function announce(session: Session, job: Job): Promise<Refusal | undefined> {
  const { channel, replyMs } = session
  for (const [at, command] of commandsFor(job, session).entries()) {
    channel.write(command)
    const answer = await channel.answer(replyMs)
    if (isRefused(answer, at)) {
      // Only a MAIL that was taken leaves something to clear.
      if (at > 0) await reset(session)
      return refusalAt(at, answer)
    }
  }
  return undefined
}

async function announceAtOnce(session: Session, job: Job): Promise<Refusal | undefined> {
  const { channel, replyMs } = session
  channel.write(commandsFor(job, session).join(''))
  const due = [channel.answer(replyMs), channel.answer(replyMs), channel.answer(replyMs)] as const
  const [mail, rcpt, data] = [await due[0], await due[1], await due[2]]
  const answers = [mail, rcpt, data]
  const refusal = answers.find(isRefused)
  if (refusal === undefined) return undefined
  if (data.reply?.code === 354) await sendNothing(session)
  else await reset(session)
  return refusalAt(answers.indexOf(refusal), refusal)
}

const refusalAt = (at: number, answer: Answer): Refusal => (at === 0 ? { answer, stage: 'mail' } : { answer })

/** Of the answers to MAIL, RCPT and DATA, counted from 0. */
const isRefused = ({ reply }: Answer, at: number) =>
  reply === undefined || (at < 2 ? reply.code >= 300 : reply.code !== 354)

/** RFC 2920 3.1: a server that wants text for a message without recipient gets an empty one. */
async function sendNothing({ channel, replyMs }: Session): Promise<void> {
  channel.write('.\r\n')
  await channel.answer(replyMs)
}

async function reset({ channel, replyMs }: Session): Promise<void> {
  if (channel.loss()) return
  channel.write('RSET\r\n')
  const { reply } = await channel.answer(replyMs)
  if (reply && reply.code !== 250) channel.abandon(saidBy(reply, 'the mail server refuses RSET: '))
}

// Above this a message is written piece by piece, so that its progress counts and its end is known.
const pieceSize = 64 * 1024

async function carryBody(session: Session, desk: Desk, job: Job): Promise<Begun | undefined> {
  const { channel, pipelining, finalMs } = session
  const answer = channel.answer(finalMs)
  const isLarge = job.wire.length > pieceSize
  const written = isLarge ? await writePieces(channel, job.wire, answer) : whole
  let next: Begun | undefined
  channel.together(() => {
    if (!isLarge) channel.write(job.wire)
    if (pipelining && written.left) next = begin(session, desk)
  })
  concludeSent(session, desk, { job, written, answer: await answer })
  return next
}

/** `handed`: the socket has the final dot; `left`: the operating system has it too. */
type Written = { handed: boolean; left: boolean }
const whole: Written = { handed: true, left: true }

/** Stops where the connection breaks or the server answers before its time. */
async function writePieces(channel: Channel, wire: string, answer: Promise<Answer>): Promise<Written> {
  const answered = answer.then(() => false)
  for (let at = 0; at < wire.length; at += pieceSize) {
    const piece = wire.slice(at, at + pieceSize)
    const flushed = new Promise<boolean>((resolve) => channel.write(piece, resolve))
    if (!(await Promise.race([flushed, answered])))
      return { handed: at + pieceSize >= wire.length, left: false }
    channel.touch()
  }
  return whole
}

type Sent = { job: Job; answer: Answer; written: Written }

function concludeSent(session: Session, desk: Desk, { job, answer, written }: Sent) {
  // After an answer in the middle of the text nobody knows what the server takes the rest for.
  if (!written.left)
    session.channel.abandon(unanswered('the mail server answered before the message was complete'))
  conclude(session, desk, { job, answer, mayBeThere: answer.loss ? written.left : written.handed })
}

type Concluded = Refusal & { job: Job; mayBeThere: boolean }

function conclude(session: Session, desk: Desk, { job, answer, stage, mayBeThere }: Concluded) {
  const { reply, loss } = answer
  const outcome = reply && outcomeOf(reply, stage)
  const isUsable = outcome && (mayBeThere || (outcome.kind !== 'accepted' && reply.code !== 421))
  if (isUsable) {
    session.answered += 1
    desk.answered(session)
    return job.settle(desk.blame.judge(job.id, outcome))
  }
  const said = loss?.said ?? strangeAnswer(reply)
  session.channel.abandon(said)
  if (mayBeThere) job.settle({ kind: 'uncertain', ...said })
  else if (job.retried || loss?.timedOut || desk.blame.isSuspect(job.id))
    job.settle(desk.blame.judge(job.id, deferredByTransport(said)))
  else desk.giveBack(job, said)
}

function strangeAnswer(reply: Answer['reply']): Said {
  if (reply?.code === 421) return saidBy(reply)
  return unanswered(`the mail server answered ${reply?.code} where that means nothing`)
}
