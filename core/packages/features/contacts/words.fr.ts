import type { words as en } from './words.en.ts'

export const words: Readonly<Record<keyof typeof en, string>> = {
  contacts: 'Contacts',
  contactsIntro: 'Enregistrez une fois ceux à qui vous envoyez ; le formulaire d’envoi se remplit avec l’un d’eux.',
  contactsNone: 'Aucun contact pour l’instant. Ajoutez le premier ci-dessous : son nom suffit pour commencer.',
  contactsNotFound: 'Aucun contact n’a cela dans son nom ou son adresse e-mail.',
  contactSearch: 'Nom ou adresse e-mail',
  contactAdd: 'Ajouter un contact',
  contactSave: 'Enregistrer',
  contactSaved: 'Le contact est enregistré.',
  contactsDelete: 'Supprimer les contacts',
  contactsDeleteIntro: 'Ce qui leur a été envoyé reste. Ils ne pourront pas être rétablis.',
  contactDelete: 'Supprimer ce contact',
  contactDeleted: '{name} a été supprimé.',
  contactRestore: 'Annuler : ajouter {name} de nouveau',
  contactChanged: 'Modifié',
  contactWhere: 'Lieu',
  contactsAll: 'Tous les contacts',
  ownDetails: 'Vos coordonnées sur les documents',
  ownDetailsIntro: 'Chaque nouveau formulaire commence avec elles : comme vendeur ou expéditeur, et comme compte à payer.',
  ownDetailsSaved: 'Vos coordonnées sont enregistrées. Les formulaires qui commencent maintenant les ont.',
  ownLogo: 'Votre logo',
  ownLogoIntro: 'Il fait partie de votre charte, et figure sur tous les documents qui la suivent : aucun formulaire ne le demande.',
  ownLogoSet: 'Définir le logo',
  ownDetailsSet: 'Saisir vos coordonnées'
}
