import { AllowedSenders, defineProvider, Host, refused, Secret, Type } from '@dispatch/core/provider'

/** Characters of a server's words about one recipient: an answer for 150 of them has to fit. */
const longestWords = 200

export default defineProvider({
  code: 'smtp',
  name: 'SMTP',
  docs: 'https://www.rfc-editor.org/rfc/rfc5321',
  settings: Type.Object({
    host: Host({ title: 'Mail server', description: 'the name of the server that takes your mail for delivery, such as smtp.example.com' }),
    port: Type.Optional(Type.Integer({ title: 'Port', description: '587 with STARTTLS and 465 with TLS unless told', minimum: 1, maximum: 65_535 })),
    security: Type.Optional(Type.Enum(['starttls', 'tls'], {
      title: 'Security', description: 'STARTTLS, or TLS from the first byte. Both are required: nothing goes out in the clear.', default: 'starttls'
    })),
    user: Type.Optional(Type.String({ title: 'User', description: 'the name to sign in with; left out where the server asks for none', minLength: 1 })),
    password: Type.Optional(Secret({ title: 'Password', description: 'The password of that user.' })),
    allowedSenders: AllowedSenders()
  }, { dependentRequired: { user: ['password'], password: ['user'] } }),
  services: {
    email: {
      idempotency: { kind: 'none' },
      async dispatch ({ email, inline, attachments }, { settings, sandbox, reference, smtp }) {
        if (sandbox) throw refused('no_sandbox', 'A mail server has no sandbox: nothing was sent. A mail server for tests, with a configuration of its own, does the same.')
        const { messageId, response, accepted, rejected } = await smtp.send({ ...email, inline, attachments, headers: { 'X-Dispatch-Reference': reference } }, settings)
        return {
          id: messageId,
          status: rejected.length === 0 ? 'sent' : 'partially_sent',
          response,
          accepted,
          rejected: rejected.map(({ message, ...recipient }) => ({ ...recipient, message: message.slice(0, longestWords) }))
        }
      }
    }
  }
})
