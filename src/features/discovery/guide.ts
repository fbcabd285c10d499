// What an agent cannot read off the single operations: where things live, and the way through several of them.

export function agentGuide(baseUrl: string): string[] {
  return [
    'Lists, contacts, templates and saved campaigns live under `/v3`, with the same key: `GET /v3/contacts/lists` ' +
      'tells the ids of lists, `GET /v3/smtp/templates` those of templates. There are agent tools for `/api/v1` only.',
    'A newsletter: `POST /v3/contacts/lists` `{name}` answers `{id}`; `POST /v3/contacts` ' +
      '`{email, attributes, listIds: [id]}` puts a person on it, `POST /v3/contacts/import` ' +
      '`{jsonBody: [{email, attributes}], listIds: [id]}` many. Look at it with campaign.preview ' +
      '`{subject, html, contact}`, which fills it in for that person and sends nothing; message.validate is for ' +
      'single messages, and without `params` it leaves `{{ contact.FIRSTNAME }}` as it stands. ' +
      'campaign.send `{name, subject, from, html, list_id}` without `confirm` sends nothing either and says how ' +
      'many would get it; the same with `"confirm": true` sends it and answers `{campaign_id}`, and campaign.stats ' +
      'tells what became of it.',
    'To take back: email.cancel `{id}` a message that is queued or held; campaign.list ' +
      '`{"status": "queued"}` or `"in_process"` finds a campaign, campaign.pause `{id}` interrupts it, ' +
      'campaign.resume `{id}` goes on, campaign.cancel `{id, "confirm": true}` ends it for good. What has left is ' +
      'not called back.',
    'Attributes of contacts must be declared first: `POST /v3/contacts/attributes/normal/{name}` ' +
      '`{"type": "text"}`. Values of others are not kept; an import names them in `info.import.ignoredColumns` of ' +
      '`GET /v3/processes/{processId}`.',
    `The schemas of one operation: GET ${baseUrl}/openapi.json?operation=campaign.send; those of \`/v3\` have ` +
      '`v3.` before their name, such as v3.list.create.',
  ]
}
