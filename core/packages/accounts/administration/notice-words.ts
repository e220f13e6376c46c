import type { MailLanguage } from '@dispatch/contract'
import type { NoticeAction } from '../audit/notices.ts'

/** What people read of a change of which they are told. */
export const noticeWords = {
  'key.created': { en: 'An API key was made.', fr: 'Une clé d’API a été créée.' },
  'passkey.added': { en: 'A passkey was added.', fr: 'Une clé d’accès a été ajoutée.' },
  'passkey.removed': { en: 'A passkey was removed.', fr: 'Une clé d’accès a été retirée.' },
  'second_factor.set': { en: 'An app for codes was set up.', fr: 'Une application de codes a été configurée.' },
  'second_factor.removed': { en: 'The second factor was removed.', fr: 'Le second facteur a été retiré.' },
  'second_factor.reset': { en: 'An admin has removed the second factor.', fr: 'Un administrateur a retiré le second facteur.' },
  'recovery_codes.replaced': { en: 'The recovery codes were replaced.', fr: 'Les codes de secours ont été remplacés.' },
  'password.changed': { en: 'The password was changed.', fr: 'Le mot de passe a été changé.' },
  'password.reset': { en: 'Another password was chosen by a link.', fr: 'Un autre mot de passe a été choisi par un lien.' },
  'access.reset': { en: 'An admin has ended every way in.', fr: 'Un administrateur a fermé tous les accès.' },
  'identity.linked': { en: 'An account of the company’s provider was linked.', fr: 'Un compte du fournisseur de l’entreprise a été lié.' },
  'identity.unlinked': {
    en: 'The account of the company’s provider was unlinked.',
    fr: 'Le compte du fournisseur de l’entreprise a été délié.'
  },
  'user.changed': { en: 'The e-mail address or the password was changed.', fr: 'L’adresse e-mail ou le mot de passe a été changé.' },
  'configuration.changed': {
    en: 'The settings of a provider lead elsewhere now.',
    fr: 'Les réglages d’un fournisseur mènent désormais ailleurs.'
  },
  'callback-secret.rotated': { en: 'A secret of the callbacks was made.', fr: 'Un secret des rappels a été créé.' },
  'callback-endpoint.created': { en: 'An endpoint of callbacks was made.', fr: 'Un point de réception des rappels a été créé.' },
  'callback-endpoint.changed': { en: 'An endpoint of callbacks was changed.', fr: 'Un point de réception des rappels a été changé.' },
  'callback-endpoint.failing': {
    en: 'An endpoint of callbacks has failed for 2 days; after 5 it is disabled.',
    fr: 'Un point de réception des rappels échoue depuis 2 jours ; après 5, il est désactivé.'
  },
  'callback-endpoint.disabled': {
    en: 'An endpoint of callbacks has failed for 5 days and was disabled.',
    fr: 'Un point de réception des rappels a échoué pendant 5 jours et a été désactivé.'
  },
  'callback-endpoint.secret-rotated': { en: 'A secret of an endpoint was made.', fr: 'Un secret d’un point de réception a été créé.' },
  'single-sign-on.changed': {
    en: 'The single sign-on of the company was changed.',
    fr: 'L’authentification unique de l’entreprise a été changée.'
  },
  'single-sign-on.removed': {
    en: 'The single sign-on of the company was removed.',
    fr: 'L’authentification unique de l’entreprise a été retirée.'
  },
  'link-mail.changed': { en: 'It was changed who mails links.', fr: 'Ce qui envoie les liens par e-mail a été changé.' },
  'link-mail.removed': { en: 'Links are not mailed any more.', fr: 'Les liens ne sont plus envoyés par e-mail.' }
} as const satisfies Record<NoticeAction, Record<MailLanguage, string>>

/** The sentence for an action; the action itself where a newer process has noted it. */
export function noticeText (action: string, language: string): string {
  const words: Readonly<Record<string, Readonly<Record<string, string>>>> = noticeWords
  return words[action]?.[language] ?? action
}
