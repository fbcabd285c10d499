// What to write in the place of what the provider's language has and this one has not.

const oneText = 'A template is one text: put the other one into it.'
const sayElsewhere = 'Print the date with "date", or give the words as a variable.'

const filterHints: Record<string, string> = {
  timesince: sayElsewhere,
  timeuntil: sayElsewhere,
  naturaltime: sayElsewhere,
  naturalday: sayElsewhere,
  dictsortreversed: 'Write "dictsort" and "reverse".',
  unordered_list: 'Write a loop over the list.',
  json_script: 'Write "json".',
  pprint: 'Write "json".',
  markdown: 'Give the HTML as a variable, and call it "safe".',
  localize: 'Leave it out.',
  unlocalize: 'Leave it out.',
}

const tagHints: Record<string, string> = {
  spaceless: 'Leave it out: white space does no harm.',
  verbatim: 'Write {% raw %}…{% endraw %}.',
  filter: 'Put the filter behind each value.',
  macro: 'Write out what it stands for.',
  import: oneText,
  include: oneText,
  extends: oneText,
  block: oneText,
  ssi: oneText,
  regroup: 'Give the list in groups, or loop over it with "where".',
  widthratio: 'Calculate it: {{ a / b * c }}.',
  templatetag: 'Write {% raw %}…{% endraw %} around it.',
  load: 'Leave it out.',
  trans: 'Write the text itself.',
  blocktrans: 'Write the text itself.',
  ifchanged: 'Compare with what a variable keeps: {% if x != before %}…{% set before = x %}{% endif %}.',
}

const withHint = (message: string, hints: Record<string, string>, name: string) =>
  Object.hasOwn(hints, name) ? `${message} ${hints[name]}` : message

export const unknownFilter = (name: string) => withHint(`Unknown filter "${name}".`, filterHints, name)
export const unknownTag = (name: string) => withHint(`Unknown tag "${name}".`, tagHints, name)
