// What the specification asks for and nobody has declared yet, in its order. Whoever declares one removes it here.
export const missing: string[] = [
  'GET /v3/outreach/campaigns',
  'POST /v3/outreach/campaigns',
  'GET /v3/outreach/campaigns/{id}',
  'PUT /v3/outreach/campaigns/{id}',
  'DELETE /v3/outreach/campaigns/{id}',
  'POST /v3/outreach/campaigns/{id}/enroll',
  'GET /v3/outreach/campaigns/{id}/stats',
  'POST /v3/outreach/campaigns/{id}/status',
  'GET /v3/outreach/identity',
  'PUT /v3/outreach/identity',
  'GET /v3/outreach/inbox',
  'GET /v3/outreach/inbox/{id}',
  'PUT /v3/outreach/inbox/{id}',
  'POST /v3/outreach/inbox/{id}/reply',
  'GET /v3/outreach/mailboxes',
  'POST /v3/outreach/mailboxes',
  'GET /v3/outreach/mailboxes/{id}',
  'PUT /v3/outreach/mailboxes/{id}',
  'DELETE /v3/outreach/mailboxes/{id}',
  'GET /v3/outreach/prospects',
  'POST /v3/outreach/prospects',
  'DELETE /v3/outreach/prospects',
  'GET /v3/outreach/prospects/{id}',
  'PUT /v3/outreach/prospects/{id}',
  'DELETE /v3/outreach/prospects/{id}',
]

// May only be lowered.
export const missingAtMost = 25
