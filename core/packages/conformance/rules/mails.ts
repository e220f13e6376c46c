import { type Case, judged } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import type { InjectedMailFault } from '../vendor/mail-fault.ts'

/** What can become of a session with a mail server, up to its end without a message. */
export const sessionFaults: readonly InjectedMailFault[] = [
  {
    name: 'refuses the sign-in',
    outcome: 'rejected',
    word: 'authentication_error',
    needs: 'sign-in',
    script: { at: 'sign-in', reply: '535 Wrong user or password' }
  },
  { name: 'cuts the connection at once', outcome: 'unavailable', script: { at: 'greeting', cut: true } },
  { name: 'refuses the connection', outcome: 'unavailable', link: 'refused' },
  { name: 'has a name that is not found', outcome: 'unavailable', link: 'unknown name' },
  { name: 'has another certificate', outcome: 'unavailable', link: 'untrusted' }
]

const mailAttacks: readonly InjectedMailFault[] = [
  ...sessionFaults,
  { name: 'refuses the sender', outcome: 'rejected', script: { at: 'sender', reply: '553 Not from you' } },
  { name: 'refuses every recipient', outcome: 'rejected', script: { at: 'recipient', reply: '550 No such user' } },
  {
    name: 'puts every recipient off',
    outcome: 'unavailable',
    word: 'recipient_unavailable',
    script: { at: 'recipient', reply: '451 4.7.1 Greylisted, try again later' }
  },
  { name: 'refuses the message', outcome: 'rejected', script: { at: 'message', reply: '554 This is spam' } },
  { name: 'takes no sender now', outcome: 'unavailable', script: { at: 'sender', reply: '451 Later' } },
  { name: 'takes no message now', outcome: 'unavailable', script: { at: 'message', reply: '452 Full' } },
  { name: 'cuts the connection before the message', outcome: 'unavailable', script: { at: 'sender', cut: true } },
  { name: 'cuts the connection after the message', outcome: 'uncertain', script: { at: 'message', cut: true } },
  { name: 'says nothing to the message', outcome: 'uncertain', script: { at: 'message', silent: true } }
]

/** Disturbs the session of every accepted dispatch that is an e-mail. */
export async function mailCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const [prepared] = fit.filter(({ call: { mail }, result }) => mail !== undefined && result['outcome'] === 'accepted')
  if (prepared === undefined) return []
  const signsIn = prepared.call.mail?.expect.user !== undefined
  return await inTurn(mailAttacks.filter(({ needs }) => needs === undefined || signsIn), async (mailAttack) => {
    const { result } = await subject.play(prepared, { mailAttack })
    const { outcome, word } = mailAttack
    const reported = 'error' in result ? result.error.word : undefined
    const wrong = result.outcome === outcome && (word === undefined || reported === word)
      ? []
      : [`It is called ${result.outcome}${'error' in result ? ` (${result.error.word}: ${result.error.message})` : ''}; it must be ` +
        `${word ?? outcome}.`]
    return judged('outcome', `${prepared.name}: the mail server ${mailAttack.name}`, wrong)
  })
}
