import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

test('a dry run tells of unknown fields and wrong types together with all else, as a send does', async () => {
  const body = {
    from: 'x',
    subject: '{{ params.x',
    html: '<p>',
    params: {},
    tag: 'a b',
    track_opens: 'x',
    colour: 1,
  }
  const toldBy = async (path: string) => {
    const { status, body: told } = await app.call('POST', path, { body })
    assert.equal(status, 422)
    return told.error.details.map(({ param, code }: Record<string, string>) => `${param} ${code}`).sort()
  }
  const told = await toldBy('/api/v1/messages/validate')
  assert.equal(told.length, 6)
  assert.deepEqual(told, await toldBy('/api/v1/transactional/send'))
})
