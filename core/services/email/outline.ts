import type { Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: [],
  setting: { name: 'allowedSenders', by: 'AllowedSenders', value: ['@example.com'] },
  path: '/v1/mails',
  body: 'json',
  request: { email: { from: 'billing@example.com', to: 'ada@example.org', subject: 'Your invoice', text: 'Here it is.' } },
  filled: '{ ...request.email, attachments: request.attachments, inline: request.inline }',
  sends: {
    from: 'billing@example.com',
    to: ['ada@example.org'],
    cc: [],
    bcc: [],
    subject: 'Your invoice',
    text: 'Here it is.',
    attachments: [],
    inline: []
  }
}
