import type { words as en } from './words.en.ts'

export const words: Record<keyof typeof en, string> = {
  drafts: 'Brouillons',
  draftsIntro: 'Ce que vous avez commencé à écrire est gardé ici pendant la saisie, 90 jours. Un brouillon envoyé disparaît un jour après.',
  draftsNone: 'Il n’y a aucun brouillon. Tout ce que vous commencez à écrire sous « Envoyer » est gardé ici.',
  draftsDelete: 'Supprimer les brouillons',
  draftId: 'Identifiant du brouillon',
  draftOf: 'Brouillon',
  draftAbout: 'Objet',
  draftAuthor: 'Par',
  draftWritten: 'Dernière modification',
  draftShared: 'partagé',
  draftSent: 'envoyé',
  draftDeleteIntro: 'Ce qui y était saisi est perdu. Ce qu’il a envoyé reste.',
  draftDelete: 'Supprimer',
  draftDeleteOf: 'Supprimer le brouillon du {at}'
}
