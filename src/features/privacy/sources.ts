// Every table that holds something about a person, and how. A test compares this with the tables that there are, so
// that one added later cannot be forgotten.

/** Exported and erased under this name. */
export const sources = {
  contacts: 'contact',
  contact_history: 'history',
  consents: 'consents',
  list_members: 'lists',
  list_unsubscriptions: 'left_lists',
  kept_leavings: 'left_lists',
  messages: 'messages',
  message_bodies: 'bodies',
  message_attachments: 'attachments',
  message_events: 'events',
  captured_messages: 'captured',
  suppressions: 'suppression',
  soft_bounces: 'soft_bounces',
  blocked_senders: 'blocked_senders',
  outreach_replies: 'outreach_replies',
  audit_lines: 'action_log',
  idempotency_keys: 'remembered_replies',
  processes: 'imports',
  process_chunks: 'imports_under_way',
  delivery_queue: 'queue',
  double_optins: 'double_optins',
  export_chunks: 'export_files',
  conversions: 'conversions',
  custom_events: 'custom_events',
  automation_runs: 'automation_runs',
  senders: 'senders',
  webhook_queue: 'webhooks_under_way',
  webhook_deliveries: 'webhooks',
  sms_messages: 'sms',
  sms_events: 'sms_events',
  sms_optouts: 'sms_optout',
  outreach_prospects: 'prospect',
  outreach_enrollments: 'enrollments',
  outreach_messages: 'outreach_messages',
} as const

export type Source = (typeof sources)[keyof typeof sources]

/** Columns that look as if they held a person and do not, with the reason. */
export const harmless: Record<string, string> = {
  'templates.sender': 'the customer’s own address',
  'templates.reply_to': 'the customer’s own address',
  'campaigns.sender': 'the customer’s own address',
  'campaigns.reply_to': 'the customer’s own address',
  'outreach_mailboxes.email': 'the customer’s own address',
  'outreach_identities.postal_address': 'the customer’s own address',
  'outreach_sequences.stop_on_reply': 'yes or no',
  'campaigns.params': 'the same for every recipient',
  'message_tags.message_id': 'tags that the message has as well; they go with it',
  'upstream_unsuppressions.email': 'gone within minutes; erasing takes it out as well',
}
