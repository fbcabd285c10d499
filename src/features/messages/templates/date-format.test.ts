import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate } from './compile.ts'
import { strftimeOf } from './date-format.ts'

const formats: Record<string, [string, string][]> = {
  strftime: [
    ['%d/%m/%Y', '%d/%m/%Y'],
    ['2006 %Y', '2006 %Y'],
  ],
  'a layout of Go': [
    ['02/01/2006', '%d/%m/%Y'],
    ['2006-01-02T15:04:05Z07:00', '%Y-%m-%dT%H:%M:%S%:z'],
    ['2 January 2006', '%-d %B %Y'],
    ['Monday, Jan _2', '%A, %b %e'],
    ['02/01', '%d/%m'],
    ['02.01.06', '%d.%m.%y'],
    ['15h04', '%Hh%M'],
    ['15:04', '%H:%M'],
    ['3:04PM', '%-l:%M%p'],
    ['05', '%S'],
  ],
  'the letters of Django': [
    ['d/m/Y', '%d/%m/%Y'],
    ['D j M y', '%a %-d %b %y'],
    ['H\\hi', '%Hh%M'],
    ['jS F Y', '%-d%q %B %Y'],
    ['d/m/2025', '%d/%m/2025'],
  ],
  'the pattern of a spreadsheet': [
    ['DD/MM/YYYY', '%d/%m/%Y'],
    ['dd.MM.yyyy HH:mm', '%d.%m.%Y %H:%M'],
  ],
}

for (const [form, examples] of Object.entries(formats))
  describe(`a date is printed by ${form}`, () => {
    for (const [format, expected] of examples) test(format, () => assert.equal(strftimeOf(format), expected))
  })

test('the moment of the rendering is a date, with a format or without', async () => {
  const time_now = new Date('2026-03-05T14:07:09Z')
  const render = (source: string) => compileTemplate(source, 'html').render({ time_now })
  assert.equal(
    await render('{{ time_now }} {{ time_now|date:"2006-01-02" }}'),
    '2026-03-05T14:07:09.000Z 2026-03-05',
  )
  assert.equal(await render('{% if time_now > "2020-01-01" %}{% now "15h04" %}{% endif %}'), '14h07')
})
