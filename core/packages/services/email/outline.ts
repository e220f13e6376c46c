import type { Outline } from '../outline.ts'

const mailbox = [
  { names: 'email|address|emailaddress', code: 'mailboxOf(%).email', value: '%' },
  { names: 'name|displayname', code: 'mailboxOf(%).name', value: undefined }
]

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
  },
  verbs: 'mail|message',
  means: [
    { names: 'from|sender', code: 'request.email.from', value: 'billing@example.com', fields: mailbox },
    { names: 'to|recipients|toaddresses', code: 'request.email.to', value: ['ada@example.org'], fields: mailbox, each: 'to' },
    { names: 'cc|ccaddresses', code: 'request.email.cc', value: [], fields: mailbox, each: 'cc' },
    { names: 'bcc|bccaddresses', code: 'request.email.bcc', value: [], fields: mailbox, each: 'bcc' },
    { names: 'subject', code: 'request.email.subject', value: 'Your invoice' },
    { names: 'html|htmlcontent|htmlbody|htmlpart', code: 'request.email.html', value: undefined },
    { names: 'text|textcontent|textbody|plain|textpart', code: 'request.email.text', value: 'Here it is.' },
    {
      names: 'attachments|attachment|files',
      code: 'request.attachments',
      value: [],
      each: 'file',
      fields: [
        { names: 'filename|name', code: 'file.filename', value: undefined },
        { names: 'content|data|base64content|contents', code: 'file', value: undefined },
        { names: 'contenttype|type|mimetype', code: 'file.contentType', value: undefined }
      ]
    }
  ]
}
