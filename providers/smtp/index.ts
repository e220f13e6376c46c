import { defineProvider, type OAuth2, sendStatus, type SmtpTransport, type Static, textOf } from '@dispatch/core/provider'
import { Settings } from './settings.ts'
import { connect, microsoft } from './sign-in.ts'

export default defineProvider({
  code: 'smtp',
  name: 'SMTP',
  docs: 'https://www.rfc-editor.org/rfc/rfc5321',
  hosts: ['login.microsoftonline.com', 'accounts.google.com', 'oauth2.googleapis.com'],
  settings: Settings,
  connect,
  check: ({ settings, smtp }) => smtp.verify(transportOf(settings)),
  services: {
    email: {
      maxReplyTo: 10,
      internationalAddresses: true,
      idempotency: { kind: 'none' },
      rest: true,
      async dispatch ({ email, inline, attachments }, { settings, reference, rest, smtp }) {
        const again = rest === undefined ? {} : { date: textOf(rest.answer, '/date'), only: rest.recipients }
        const message = {
          ...email,
          id: reference,
          ...again,
          inline,
          attachments,
          headers: { ...email.headers, 'X-Dispatch-Reference': reference }
        }
        const { messageId, ...receipt } = await smtp.send(message, transportOf(settings))
        return { id: messageId, status: sendStatus(receipt), ...receipt }
      }
    }
  }
})

/** The mail server, the sign-in there, and the signature of messages. */
function transportOf (settings: Static<typeof Settings>): SmtpTransport {
  const { host, port, security, user, password, dkimDomain: domain, dkimSelector: selector, dkimPrivateKey: privateKey } = settings
  const oauth2 = oauth2Of(settings)
  return {
    host,
    ...(port !== undefined && { port }),
    ...(security !== undefined && { security }),
    ...(user !== undefined && { user }),
    ...(oauth2 !== undefined ? { oauth2 } : password !== undefined && { password }),
    ...(domain !== undefined && selector !== undefined && privateKey !== undefined && { dkim: { domain, selector, privateKey } })
  }
}

/** The token to sign in with; undefined where a password does. */
function oauth2Of ({ signIn = 'password', tenant = '', clientId = '', clientSecret = '' }: Static<typeof Settings>):
  | OAuth2
  | undefined
{
  if (signIn === 'password') return undefined
  if (signIn !== 'microsoft_app') return { grant: 'authorization_code' }
  return {
    grant: 'client_credentials',
    tokenUrl: `${microsoft(encodeURIComponent(tenant))}/token`,
    scope: 'https://outlook.office365.com/.default',
    clientId,
    clientSecret,
    clientAuth: 'body'
  }
}
