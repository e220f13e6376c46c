import type { Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: [],
  path: '/v1/messages',
  body: 'json',
  request: { sms: { phoneNumber: '+33612345678', message: 'Hello' } },
  filled: '{ to: request.sms.phoneNumber, text: request.sms.message }',
  sends: { to: '+33612345678', text: 'Hello' }
}
