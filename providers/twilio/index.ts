import { defineProvider, refused, Secret, Type } from '@dispatch/core/provider'

const sid = { pattern: '^AC[0-9a-fA-F]{32}$' }
const messagingService = /^MG[0-9a-fA-F]{32}$/

const Sent = Type.Object({ sid: Type.String(), status: Type.String() })

/** The sender that test credentials may use: https://www.twilio.com/docs/iam/test-credentials. */
const testSender = '+15005550006'

export default defineProvider({
  code: 'twilio',
  name: 'Twilio',
  docs: 'https://www.twilio.com/docs/messaging/api/message-resource',
  hosts: ['api.twilio.com'],
  sandbox: { kind: 'flag', needs: ['testAccountSid', 'testAuthToken'] },
  settings: Type.Object({
    accountSid: Type.String({ ...sid, title: 'Account SID', description: 'AC and 32 hexadecimal digits, from the console' }),
    authToken: Secret({ title: 'Auth token', description: 'The primary auth token of the account.' }),
    from: Type.String({
      title: 'Sender',
      description: 'a number of the account (E.164), a short code, a name of 1 to 11 letters and digits, or a messaging service (MG…)',
      pattern: '^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|MG[0-9a-fA-F]{32}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$'
    }),
    testAccountSid: Type.Optional(Type.String({ ...sid, title: 'Test account SID', description: 'the SID of the test credentials: what a sandbox configuration sends with' })),
    testAuthToken: Type.Optional(Secret({ title: 'Test auth token', description: 'The token of the test credentials.' }))
  }),
  errors: {
    at: '/code',
    message: '/message',
    map: {
      20003: 'authentication_error', // Authenticate
      20005: 'authentication_error', // Account not active
      21211: 'provider_error', // Invalid 'To' phone number
      21408: 'provider_error', // No permission for the region
      21606: 'provider_error', // 'From' is not a number for messages
      21608: 'provider_error', // A trial account sends to verified numbers only
      21610: 'provider_error', // The recipient has unsubscribed
      21611: 'provider_unavailable', // The sender's queue is full
      21614: 'provider_error', // 'To' is not a mobile number
      21617: 'provider_error' // The text is too long
    }
  },
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },
      async dispatch ({ sms: { phoneNumber, message, sender } }, { settings, sandbox, http }) {
        const { accountSid, authToken, from, testAccountSid, testAuthToken } = settings
        const [user, password] = sandbox ? [testAccountSid, testAuthToken] : [accountSid, authToken]
        if (user === undefined || password === undefined) {
          throw refused('no_test_credentials', 'A sandbox configuration needs the test credentials of the account: nothing was sent.')
        }
        const origin = sandbox ? testSender : sender ?? from
        const form = { To: phoneNumber, [messagingService.test(origin) ? 'MessagingServiceSid' : 'From']: origin, Body: message }
        const { sid, status } = await http.post(`https://api.twilio.com/2010-04-01/Accounts/${user}/Messages.json`, { basic: [user, password], form }, Sent)
        return { id: sid, status }
      }
    }
  }
})
