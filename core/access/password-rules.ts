import { refusal } from '../contract/errors.ts'
import { normaliseEmail } from './account.ts'

/** Throws `validation_failed` for a password that whoever knows the account would try first. Its length is the schema's. */
export function requireGoodPassword (password: string, email: string): void {
  const [local = ''] = email.split('@')
  if ([email, local].map(normaliseEmail).includes(normaliseEmail(password))) {
    throw refusal('validation_failed', [{
      path: '/password',
      code: 'guessable',
      message: 'The password must be another text than the e-mail address and its first part.'
    }])
  }
}
