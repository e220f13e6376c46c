import { refusal } from '@dispatch/contract'
import { normaliseEmail } from './account.ts'

/** Throws `validation_failed` for a password that is the e-mail address or its first part. The schema checks the length. */
export function requireGoodPassword (password: string, email: string): void {
  const [local = ''] = email.split('@')
  if ([email, local].map(normaliseEmail).includes(normaliseEmail(password))) {
    throw refusal('validation_failed', [{
      path: '/password',
      code: 'guessable',
      message: 'The password must differ from the e-mail address and from its first part.'
    }])
  }
}
