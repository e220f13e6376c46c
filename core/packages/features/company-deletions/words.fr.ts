import type { words as en } from './words.en.ts'

export const words: Record<keyof typeof en, string> = {
  deletions: 'Sociétés supprimées',
  deletionsIntro: 'Les sociétés supprimées pour toujours, avec l’empreinte du reçu ; le reçu lui-même est dans l’API.',
  deletionsNone: 'Aucune société n’a été supprimée.',
  deletionNew: 'Supprimer une société',
  deletionCompany: 'Numéro de la société',
  deletionName: 'Son nom',
  deletionNameHelp: 'Tel qu’il est, pour qu’il ne s’agisse d’aucune autre société.',
  deletionAsk: 'Supprimer {name} pour toujours ?',
  deletionWhat:
    'Sa clé de données part d’abord, pour que personne ne lise plus ses documents scellés, même dans les sauvegardes. Ensuite ' +
    'partent ses fichiers, utilisateurs, envois, documents, réglages, modèles, crédits, registre et journal d’audit, puis la société.',
  deletionNever: 'Personne ne peut revenir en arrière. Ce que détiennent fournisseurs et destinataires reste chez eux.',
  deletionDo: 'Supprimer',
  deletionBegun: 'La suppression a commencé. Elle continue seule et se termine quelques minutes plus tard.',
  deletionStatus: 'État',
  deletionIs_possible: 'pas commencée',
  deletionIs_impossible: 'pas commencée',
  deletionIs_running: 'en cours',
  deletionIs_finished: 'terminée',
  deletionDigest: 'SHA-256 du reçu',
  deletionOwn: 'Une société désactivée peut être supprimée avec tout ce qui lui appartient.',
  auditStarted: 'Suppression d’une société commencée',
  auditDeleted: 'Société supprimée'
}
