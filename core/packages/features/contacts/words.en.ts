export const words = {
  contacts: 'Contacts',
  contactsIntro: 'Save those to whom you send once; the form that sends fills itself with one of them.',
  contactsNone: 'No contacts yet. Add the first one below: its name is enough to begin with.',
  contactsNotFound: 'No contact has this in its name or e-mail address.',
  contactSearch: 'Name or e-mail address',
  contactAdd: 'Add a contact',
  contactSave: 'Save',
  contactSaved: 'The contact is saved.',
  contactDelete: 'Delete this contact',
  contactDeleted: '{name} was deleted.',
  contactRestore: 'Undo: add {name} again',
  contactWhere: 'Place',
  contactsAll: 'All contacts',
  ownDetails: 'Your details on documents',
  ownDetailsIntro: 'Each new form begins with them: as the seller or the sender, and as the account to be paid to.',
  ownDetailsSaved: 'Your details are saved. Forms that begin now have them.',
  ownDetailsSet: 'Set your details'
}
