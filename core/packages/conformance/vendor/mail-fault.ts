import type { Outcome } from '@dispatch/host'
import type { ProviderErrorWord } from '@dispatch/vendor-io/outcome'
import type { MailScript } from './mail-server.ts'

/** The faults of a session with a mail server, and the outcome of the message with each. `word`: the only word that is right. */
export type InjectedMailFault =
  & { name: string, outcome: Exclude<Outcome['outcome'], 'accepted'>, word?: ProviderErrorWord, needs?: 'sign-in' }
  & ({ script: MailScript } | { link: 'refused' | 'unknown name' | 'untrusted' })
