// Many messages at once, written by the database itself.
import pg from 'pg'

export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const chunk = 100_000

const columns = `
  (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, tag, message_id, created_at)`

const rows = (status: string) => `
  select uuidv7(), k.account_id, k.id, '${status}', 'api', 'live', 'transactional', 'shop@example.com',
         'r' || n % 200 || '@example.org', 'Your order', 'tag' || n % 50, '<' || n || '@example.com>', now()
    from (select account_id, id from api_keys limit 1) k, generate_series($1::int, $2::int) n`

/** Messages that are done with, half of them of one status and half of another, as a service has after a while. */
export async function fillFinished(url: string, count: number): Promise<void> {
  await onDatabase(url, async (client) => {
    for (let from = 1; from <= count; from += chunk) {
      const middle = Math.min(count, from + chunk - 1)
      await client.query(`insert into messages ${columns} ${rows('delivered')} where n % 2 = 0`, [
        from,
        middle,
      ])
      await client.query(`insert into messages ${columns} ${rows('sent')} where n % 2 = 1`, [from, middle])
    }
    await client.query('vacuum analyze messages')
    // What the filling leaves to be written would be written while the lists are read.
    await client.query('checkpoint')
  })
}

/** Messages of about 2 kB, due at once. */
export async function fillQueue(url: string, count: number): Promise<void> {
  const text = `Dear customer,\n\n${'thank you for your order, which is on its way. '.repeat(40)}\n`
  const statement = `
    with m as (insert into messages ${columns} ${rows('queued')} returning id, account_id, recipient),
         b as (insert into message_bodies (message_id, account_id, parts)
               select id, account_id, jsonb_build_object('from', '{"email":"shop@example.com"}'::jsonb, 'to',
                        jsonb_build_array(jsonb_build_object('email', recipient)), 'text', $3::text,
                        'headers', '[]'::jsonb)
                 from m)
    insert into delivery_queue (message_id, account_id, lane, due_at) select id, account_id, 0, now() from m`
  await onDatabase(url, async (client) => {
    for (let from = 1; from <= count; from += chunk)
      await client.query(statement, [from, Math.min(count, from + chunk - 1), text])
    await client.query('analyze messages, message_bodies, delivery_queue')
  })
}
