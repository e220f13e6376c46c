import type { words as en } from './words.en.ts'

export const words: Readonly<Record<keyof typeof en, string>> = {
  files: 'Fichiers',
  filesIntro: 'Les fichiers qui accompagnent vos envois, comme des conditions avec une facture : le formulaire d’envoi ' +
    'les propose. Un fichier est gardé 24 heures, et 30 jours une fois envoyé.',
  filesBack: 'Revenir à l’envoi, et y choisir le fichier.',
  filesNone: 'Il n’y a aucun fichier.',
  fileChosen: 'Fichier',
  fileHelp: '50 Mio au plus.',
  fileUpload: 'Envoyer le fichier',
  fileUploaded: 'Le fichier est là. Son identifiant est {id}.',
  fileRefused: 'Le fichier n’a pas été pris.',
  fileName: 'Nom',
  fileId: 'Identifiant',
  fileType: 'Type',
  fileSize: 'Taille',
  fileExpires: 'Gardé jusqu’au',
  filesRemove: 'Supprimer les fichiers',
  fileRemove: 'Supprimer',
  fileRemoveOf: 'Supprimer {name}',
  fileWaiting: 'Ce qui attend et en a besoin',
  fileRemoveIntro: 'Les envois en attente qui le désignent échoueront. Pour s’en servir encore, il faudra le charger de nouveau.'
}
