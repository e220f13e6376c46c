import { AllowedSenders, allowedSendersInFrench, appCredentials, defineProvider, Type } from '@dispatch/core/provider'

const Sent = Type.Object({ id: Type.String({ minLength: 1 }) })

export default defineProvider({
  code: 'gmail',
  name: 'Gmail',
  docs: 'https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send',
  hosts: ['gmail.googleapis.com', 'oauth2.googleapis.com', 'accounts.google.com'],
  settings: Type.Object({ ...appCredentials('Google'), allowedSenders: AllowedSenders(allowedSendersInFrench) }),
  connect: {
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scope: 'https://www.googleapis.com/auth/gmail.send',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    parameters: { access_type: 'offline', prompt: 'consent' }
  },
  errors: {
    at: '/error/errors/0/reason',
    message: '/error/message',
    map: {
      authError: 'authentication_error',
      insufficientPermissions: 'authentication_error',
      invalidArgument: 'provider_error',
      rateLimitExceeded: 'provider_unavailable',
      userRateLimitExceeded: 'provider_unavailable'
    }
  },
  services: {
    email: {
      maxSize: 35_000_000,
      maxReplyTo: 10,
      idempotency: { kind: 'none' },

      // Gmail reads the recipients of the message itself, and takes Bcc out of it.
      async dispatch ({ email, inline, attachments }, { http, documents, reference, now }) {
        const message = await documents.compose({ ...email, id: reference, date: now().toISOString(), inline, attachments })
        const { id } = await http.post('https://gmail.googleapis.com/upload/gmail/v1/users/me/messages/send', {
          oauth2: { grant: 'authorization_code' },
          query: { uploadType: 'media' },
          headers: { 'content-type': 'message/rfc822' },
          document: message
        }, Sent)
        return { id, status: 'sent' }
      }
    }
  }
})
