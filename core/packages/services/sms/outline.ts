import type { Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: [],
  path: '/v1/messages',
  body: 'json',
  request: { sms: { phoneNumber: '+33612345678', message: 'Hello' } },
  filled: '{ to: request.sms.phoneNumber, text: request.sms.message }',
  sends: { to: '+33612345678', text: 'Hello' },
  verbs: 'sms|message|text',
  means: [
    {
      names: 'to|recipient|recipients|phonenumber|phone|destination|msisdn|mobile|number',
      code: 'request.sms.phoneNumber',
      value: '+33612345678'
    },
    { names: 'text|body|message|content|msg', code: 'request.sms.message', value: 'Hello' }
  ]
}
