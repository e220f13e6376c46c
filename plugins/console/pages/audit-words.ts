import { memoizeByIdentity } from '@dispatch/common'
import { textIn, type Words } from '../language/language.ts'
import type { ConsoleParts, Text } from '../session/visit.ts'

/** What the service itself writes into the audit log, by action; features tell theirs in their definitions. */
export const auditWords = {
  'access.reset': { en: 'Every way in of a user ended', fr: 'Tous les accès d’un utilisateur fermés' },
  'choice.changed': { en: 'Provider of a service chosen', fr: 'Fournisseur d’un service choisi' },
  'company-domains.changed': { en: 'Domains of the company changed', fr: 'Domaines de la société modifiés' },
  'company.changed': { en: 'Company changed', fr: 'Société modifiée' },
  'company.created': { en: 'Company created', fr: 'Société créée' },
  'configuration.changed': { en: 'Settings of a provider changed', fr: 'Réglages d’un fournisseur modifiés' },
  'configuration.checked': { en: 'Settings of a provider checked', fr: 'Réglages d’un fournisseur vérifiés' },
  'configuration.migrated': {
    en: 'Settings of a provider brought to its new version',
    fr: 'Réglages d’un fournisseur repris par sa version'
  },
  'configuration.removed': { en: 'Settings of a provider removed', fr: 'Réglages d’un fournisseur supprimés' },
  'credits.corrected': { en: 'Credits taken back', fr: 'Crédits repris' },
  'credits.granted': { en: 'Credits granted', fr: 'Crédits accordés' },
  'dispatch.cancel_requested': { en: 'Cancellation of a dispatch asked for', fr: 'Annulation d’un envoi demandée' },
  'dispatch.cancelled': { en: 'Dispatch cancelled', fr: 'Envoi annulé' },
  'dispatch.found': { en: 'Dispatch found by an operator', fr: 'Envoi trouvé par un exploitant' },
  'dispatch.moved': { en: 'Dispatch moved to another time', fr: 'Envoi déplacé à une autre heure' },
  'dispatch.resolved': { en: 'Outcome of a dispatch recorded', fr: 'Issue d’un envoi consignée' },
  'dispatch.status_said': { en: 'Status of an invoice said', fr: 'Statut d’une facture déclaré' },
  'dispatch.retried': { en: 'Dispatch sent again', fr: 'Envoi relancé' },
  'dispatches.searched': { en: 'Dispatches of all companies searched', fr: 'Recherche parmi les envois de toutes les sociétés' },
  'key.created': { en: 'API key created', fr: 'Clé d’API créée' },
  'key.revoked': { en: 'API key revoked', fr: 'Clé d’API révoquée' },
  'link-mail.changed': { en: 'Sender of the links changed', fr: 'Expéditeur des liens modifié' },
  'link-mail.removed': { en: 'Sender of the links removed', fr: 'Expéditeur des liens supprimé' },
  'password.changed': { en: 'Password changed', fr: 'Mot de passe changé' },
  'provider.publisher_changed': { en: 'Publisher of a provider changed', fr: 'Éditeur d’un fournisseur changé' },
  'providers.reloaded': { en: 'Providers reloaded', fr: 'Fournisseurs rechargés' },
  'queue.released': { en: 'Waiting dispatches released', fr: 'Envois en attente libérés' },
  'recovery_codes.replaced': { en: 'Recovery codes replaced', fr: 'Codes de secours remplacés' },
  'second_factor.removed': { en: 'Second factor removed', fr: 'Second facteur retiré' },
  'second_factor.reset': {
    en: 'Second factor of a user removed by an admin',
    fr: 'Second facteur d’un utilisateur retiré par un administrateur'
  },
  'session.ended': { en: 'Session ended', fr: 'Session terminée' },
  'settings.changed': { en: 'Settings of the company changed', fr: 'Réglages de la société modifiés' },
  'user.changed': { en: 'User changed', fr: 'Utilisateur modifié' },
  'user.created': { en: 'User created', fr: 'Utilisateur créé' },
  'user.impersonated': { en: 'Operator acted as a user', fr: 'Exploitant intervenu au nom d’un utilisateur' }
} as const satisfies Readonly<Record<string, Text>>

type Reported = Pick<ConsoleParts, 'audit'>

/** What was done, in words; the action itself where a newer process or a feature that is gone has noted it. */
export function actionText (words: Words, { audit }: Reported, action: string): string {
  const text = actionsOf(audit)[action]
  return text === undefined ? action : textIn(words, text)
}

/** Every action, as choices in the order of their words. */
export function actionChoices (words: Words, { audit }: Reported): readonly Choice[] {
  return choicesIn(words)(audit)
}

type Choice = { value: string, label: string }

// They are the same for each row and each page, as long as the service runs.
const actionsOf = memoizeByIdentity((audit: Reported['audit']): Readonly<Record<string, Text>> => ({ ...auditWords, ...audit }))
const choicesIn = memoizeByIdentity((words: Words) =>
  memoizeByIdentity((audit: Reported['audit']): readonly Choice[] =>
    Object.entries(actionsOf(audit)).map(([value, text]) => ({ value, label: textIn(words, text) }))
      .sort((one, other) => one.label.localeCompare(other.label, words.code))
  )
)
