import type { Outcome } from '@dispatch/core/host'
import type { MailScript } from './mail-server.ts'

/** What can become of a session with a mail server, and what that says about the message. */
export type InjectedMailFault =
  & { name: string, outcome: Exclude<Outcome['outcome'], 'accepted'>, needs?: 'sign-in' }
  & ({ script: MailScript } | { link: 'refused' | 'unknown name' | 'untrusted' })
