// What limits each figure, as measured and profiled; printed below it in docs/benchmarks.md.
export const limits: { machine: string; cases: Record<string, string> } = {
  machine: `The processors are shared with others: two processes that sign with RSA at once get between 1.2 and
1.9 times the rate of one (\`openssl speed -multi 2 rsa2048\` against \`openssl speed rsa2048\`), from one hour
to the next. Where the anchor keeps one processor busy and Posthorn shares both with its database and the load,
the ratio follows that.`,
  cases: {
    http: `The gates: key, scope, limit, audit line. Reads write nothing but the counter of the limit and
the audit line, both together with those of other requests.`,
    acceptance: `The thread of the service, which never rests while the database takes half of the other processor
and the load an eighth of it: 220 µs a request, and nothing among them that stands out (HTTP and sockets, the
driver, the gates, the log, collecting garbage). The anchor has both processors.`,
    relay: `The thread of the service, about 0.7 ms a message, a third of it TLS and sockets; the database takes
0.2 ms, the load 0.16. Postfix has a process for every connection and speaks without TLS here.`,
    sending: `RSA: one signature takes 0.7 ms of the machine, half of all that a message costs, or 0.4 where the
processor has AVX-512 IFMA; little of the machine is idle. The anchor signs too, but on one processor, with the
other one idle.`,
    queue: `Nothing that grows: a claim reads the first rows of a partial index, a page of messages those
of the index of its filter.`,
    import: `The database: the rows, their indexes and the history of every value.`,
    contacts: `The processor, for the counting and writing of a page; the number of contacts does not
show.`,
    statistics: `Counters that are kept as events arrive; what is read does not grow with the events.`,
    domains: `The slowest answer of DNS: all questions are asked at once.`,
    campaign: `RSA where a signature takes 0.7 ms: two fifths of all that the machine does. Where it takes 0.4
(AVX-512 IFMA) signatures take two fifths of two processors, the thread of the engine a quarter (sockets, rendering
and the collecting of garbage most of it), the database a seventh; an eighth is idle, waiting for commits. More
commits at once, more composed ahead or a larger young generation gain nothing that can be measured.`,
    freezing: `The database: the rows of messages with their indexes and counters.`,
    webhooks: `The thread of the engine, 270 µs a call: the client takes 100 of them (60 where it has a processor to
itself), payload and signature 40, reading what is due and recording each call 45. Receiver and database
share the other processor.`,
    mailboxes: `The memory of one connection of the IMAP library, and its TLS.`,
    outreach: `The database for reading and writing the moments; planning itself takes one mailbox after
another.`,
    memory: `Batches of fixed size, and a heap that is looked through when it has doubled.`,
    'campaign-memory': `Batches of fixed size, a template that is compiled once, and a heap that is looked through when
it has doubled: 25 MB of it are in use.`,
  },
}
