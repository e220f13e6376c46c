import { defineProvider, type HttpCall, refused, type Static, Type, unavailable } from '@dispatch/core/provider'
import { Event, eventOf, replies, statuses } from './events.ts'
import { type Call, limits, messagingService, RequestSettings, Settings } from './settings.ts'

const Message = Type.Object({
  sid: Type.String(),
  status: Type.String(),
  error_code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  error_message: Type.Optional(Type.Union([Type.String(), Type.Null()]))
})

const Account = Type.Object({ sid: Type.String() })

/** The sender that test credentials may use: https://www.twilio.com/docs/iam/test-credentials. */
const testSender = '+15005550006'

const [minute, hour] = [60, 3600]

export default defineProvider({
  code: 'twilio',
  name: 'Twilio',
  docs: 'https://www.twilio.com/docs/messaging/api/message-resource',
  hosts: ['api.twilio.com'],
  sandbox: { kind: 'flag', needs: ['testAccountSid', 'testAuthToken'] },
  settings: Settings,
  requestSettings: RequestSettings,
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
      21617: 'provider_error', // The text is too long
      30001: 'provider_unavailable' // The account's queue is full
    }
  },
  async check (call) {
    if (call.sandbox) throw unavailable('Twilio has nothing that test credentials may read.')
    await call.http.get(...ask(call, '.json'), Account)
  },
  services: {
    sms: {
      alphanumericSender: true,
      limits,
      idempotency: { kind: 'none' },
      statuses,
      poll: { after: 2 * minute, every: hour, until: 36 * hour },

      async dispatch ({ sms: { phoneNumber, message, sender } }, call) {
        const { settings, requestSettings, sandbox } = call
        const { validityPeriod: ValidityPeriod } = { ...settings, ...requestSettings }
        const from = sandbox ? { From: testSender } : fromOf(sender, requestSettings.messagingService, settings.from)
        // Test credentials send nothing, so there is nothing to tell.
        const callback = sandbox ? {} : { StatusCallback: call.webhookUrl }
        const made = await call.http.post(
          ...ask(call, '/Messages.json', { form: { To: phoneNumber, ...from, ValidityPeriod, ...callback, Body: message } }),
          Message
        )
        // Twilio may already have given up on a message when it answers that it was created.
        if (isFailed(made)) {
          throw refused(made.error_code ?? made.status, made.error_message ?? `Twilio made the message, but it is ${made.status}.`)
        }
        return { id: made.sid, status: made.status }
      },

      async status ({ id }, call) {
        // With test credentials, a message cannot be read back.
        if (call.sandbox) return { status: 'queued' }
        const { status, error_code: code, error_message: text } = await call.http.get(
          ...ask(call, `/Messages/${encodeURIComponent(id)}.json`),
          Message
        )
        return { status, ...(typeof code === 'number' && { errorCode: code }), ...(typeof text === 'string' && { errorMessage: text }) }
      }
    }
  },
  webhooks: {
    sms: {
      // https://www.twilio.com/docs/usage/security#validating-requests
      form: 'form',
      verify: {
        kind: 'signature',
        signed: ['address', { named: 'sorted' }],
        at: { header: 'X-Twilio-Signature' },
        algorithm: 'hmac-sha1',
        encoding: 'base64',
        key: { secret: 'authToken' }
      },
      body: Event,
      read: eventOf,
      events: statuses,
      replies
    }
  }
})

/** A request for the account; in a sandbox with its test credentials. */
function ask (
  { settings, sandbox }: Pick<Call, 'settings' | 'sandbox'>,
  path: string,
  body: Pick<HttpCall, 'form'> = {}
): [url: string, call: HttpCall] {
  const { accountSid, authToken, testAccountSid, testAuthToken } = settings
  const [user, password] = sandbox ? [testAccountSid, testAuthToken] : [accountSid, authToken]
  if (user === undefined || password === undefined) {
    throw refused('no_test_credentials', 'A sandbox configuration needs the test credentials of the account: nothing was sent.')
  }
  return [`https://api.twilio.com/2010-04-01/Accounts/${user}${path}`, { basic: [user, password], ...body }]
}

/**
 * The sender: the messaging service of the request, with a sender of its pool if one is named; else the sender of the request, else that of
 * the configuration.
 */
function fromOf (
  sender: string | undefined,
  requested: string | undefined,
  usual: string
): { From?: string, MessagingServiceSid?: string } {
  if (requested !== undefined) return { MessagingServiceSid: requested, ...(sender !== undefined && { From: sender }) }
  const from = sender ?? usual
  return messagingService.test(from) ? { MessagingServiceSid: from } : { From: from }
}

function isFailed ({ status }: Static<typeof Message>): boolean {
  return Object.entries(statuses).some(([word, meaning]) => word === status && meaning === 'failed')
}
