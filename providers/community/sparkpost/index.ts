import { AllowedSenders, allowedSendersInFrench, defineProvider, type DocumentHandle, given, inFrench, mailboxOf, refused, Secret, Type,
  webhookCredentials } from '@dispatch/core/provider'

const Sent = Type.Object({
  results: Type.Object({ id: Type.String({ minLength: 1 }), total_accepted_recipients: Type.Integer() })
})

/** https://developers.sparkpost.com/api/webhooks/: a batch, each event below its class. What is tried when a webhook is made has none. */
const Event = Type.Object({
  type: Type.String({ minLength: 1 }),
  event_id: Type.String({ minLength: 1 }),
  transmission_id: Type.Optional(Type.String()),
  rcpt_to: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String())
})
const classes = ['message_event', 'track_event', 'gen_event', 'unsubscribe_event'] as const
const Batch = Type.Array(Type.Object({
  msys: Type.Object({
    message_event: Type.Optional(Event),
    track_event: Type.Optional(Event),
    gen_event: Type.Optional(Event),
    unsubscribe_event: Type.Optional(Event)
  })
}))

export default defineProvider({
  code: 'sparkpost',
  name: 'SparkPost',
  docs: 'https://developers.sparkpost.com/api/transmissions/',
  hosts: ['api.sparkpost.com', 'api.eu.sparkpost.com'],
  settings: Type.Object({
    apiKey: Secret({
      title: 'API key',
      ...inFrench('Clé d’API', 'une clé avec la permission « Transmissions: Read/Write »'),
      description: 'a key with the permission "Transmissions: Read/Write"',
      pattern: '^[0-9a-f]{40}$'
    }),
    region: Type.Optional(Type.Union([
      Type.Literal('us', { title: 'United States', ...inFrench('États-Unis') }),
      Type.Literal('eu', { title: 'Europe', ...inFrench('Europe') })
    ], {
      title: 'Region',
      ...inFrench('Région', 'où est le compte ; les États-Unis par défaut'),
      description: 'where the account is; the United States unless set'
    })),
    allowedSenders: AllowedSenders(allowedSendersInFrench),
    ...webhookCredentials('SparkPost')
  }),
  errors: {
    at: '/errors/0/code',
    message: ['/errors/0/description', '/errors/0/message'],
    map: { 401: 'authentication_error', 403: 'authentication_error' }
  },
  services: {
    email: {
      maxSize: 20_000_000,
      // https://developers.sparkpost.com/api/#header-errors: a limit of the account.
      notProcessed: [420],
      idempotency: { kind: 'none' },

      async dispatch ({ email, inline, attachments }, { settings: { apiKey, region }, http, reference }) {
        const { from, to, cc, bcc, replyTo, subject, html, text, headers } = email
        const [shownTo, shownCc] = [to, cc].map((list) => list.map(addressOf).join(', '))
        const addressed = (mailbox: string) => ({ address: { ...mailboxOf(mailbox), header_to: shownTo } })
        const { results: { id, total_accepted_recipients: taken } } = await http.post(
          `https://api.${region === 'eu' ? 'eu.' : ''}sparkpost.com/api/v1/transmissions`,
          {
            apiKey: { header: 'Authorization', value: apiKey },
            json: {
              options: { transactional: true },
              metadata: { dispatch_reference: reference },
              recipients: [...to, ...cc, ...bcc].map(addressed),
              content: given({
                from: mailboxOf(from),
                subject,
                html,
                text,
                reply_to: replyTo === undefined ? undefined : String(replyTo),
                headers: headers === undefined && cc.length === 0 ? undefined : { ...headers, ...(cc.length > 0 && { CC: shownCc }) },
                attachments: attachments.map((document) => fileOf(document, document.filename)),
                inline_images: inline.map((picture) => fileOf(picture, picture.contentId))
              })
            }
          },
          Sent
        )
        if (taken === 0) throw refused('recipients', 'SparkPost has refused all recipients.')
        return { id, status: 'sent' }
      }
    }
  },
  webhooks: {
    email: {
      verify: { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
      body: Batch,
      read: (batch) =>
        batch.flatMap(({ msys }) =>
          classes.flatMap((name) => {
            const { type, event_id: eventId, transmission_id: remoteId, rcpt_to: recipient, reason } = msys[name] ?? {}
            return type === undefined || remoteId === undefined ? [] : [{ remoteId, type, ...given({ eventId, recipient, reason }) }]
          })
        ),
      events: {
        delivery: 'delivered',
        bounce: 'bounced',
        out_of_band: 'bounced',
        policy_rejection: 'failed',
        generation_failure: 'failed',
        generation_rejection: 'failed',
        spam_complaint: 'complained',
        open: 'opened',
        initial_open: 'opened',
        click: 'clicked'
      }
    }
  }
})

function addressOf (mailbox: string): string {
  return mailboxOf(mailbox).email
}

function fileOf (data: DocumentHandle, name: string) {
  return { name, type: data.contentType, data }
}
