/** What the shared templates say of their fields in English, in the other languages of the console. */
export const templateHelp: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fr: {
    '1 friendly (unless given), 2 firm, 3 final.': '1 cordial (par défaut), 2 ferme, 3 dernier.',
    'A PNG or JPEG image as a data URI, in place of the seller\'s name.':
      'Une image PNG ou JPEG en URI de données, à la place du nom du vendeur.',
    'A PNG or JPEG image as a data URI, in place of the sender\'s name.':
      'Une image PNG ou JPEG en URI de données, à la place du nom de l’expéditeur.',
    'A PNG or JPEG image as a data URI.': 'Une image PNG ou JPEG en URI de données.',
    'A number or a decimal text, such as 12.5 or "12.50".': 'Un nombre ou un texte décimal, comme 12.5 ou "12.50".',
    'A paragraph of your own.': 'Un paragraphe à vous.',
    'An ISO 3166-1 alpha-2 code, or a name.': 'Un code ISO 3166-1 alpha-2, ou un nom.',
    'An ISO 3166-1 alpha-2 code, or a name; printed where it is not the sender\'s.':
      'Un code ISO 3166-1 alpha-2, ou un nom ; imprimé s’il n’est pas celui de l’expéditeur.',
    'An ISO 4217 code, such as EUR.': 'Un code ISO 4217, comme EUR.',
    'An address of the web.': 'Une adresse web.',
    'In words of the language, such as per month.': 'En toutes lettres dans la langue du document, comme « par mois ».',
    'In words of the language, such as three months.': 'En toutes lettres dans la langue du document, comme « trois mois ».',
    'Legal form, register and number: they stand at the foot of every page.':
      'Forme juridique, registre et numéro : au pied de chaque page.',
    'Legal notices in small type at the end.': 'Mentions légales en petits caractères, à la fin.',
    'One line of an address (UPU S42).': 'Une ligne d’adresse (UPU S42).',
    'Shown beside what was paid of it.': 'Affiché à côté de ce qui en a été payé.',
    'The address of the account.': 'L’adresse du compte.',
    'The country, in words.': 'Le pays, en toutes lettres.',
    'The credit note\'s number.': 'Le numéro de l’avoir.',
    'The host of the service.': 'L’hôte du service.',
    'The invoice number.': 'Le numéro de la facture.',
    'The language, and a country where it matters: en-GB (unless given), en-US, fr, fr-CH, de, it, es, nl …':
      'La langue, et le pays s’il compte : en-GB (par défaut), en-US, fr, fr-CH, de, it, es, nl …',
    'The last day on which the quote can be accepted.': 'Le dernier jour pour accepter le devis.',
    'The last day to pay.': 'Le dernier jour pour payer.',
    'The last day to sign.': 'Le dernier jour pour signer.',
    'The number of the reminder, which the customer names with the payment.':
      'Le numéro du rappel, que le client indique avec son paiement.',
    'The person who asks for the signature.': 'La personne qui demande la signature.',
    'The quote number.': 'Le numéro du devis.',
    'The register and the number in it.': 'Le registre, et le numéro qui y figure.',
    'The state, province or region.': 'L’État, la province ou la région.',
    'Until when the link is good: a day (YYYY-MM-DD) or a time (RFC 3339).':
      'Jusqu’à quand le lien est valable : un jour (AAAA-MM-JJ) ou un instant (RFC 3339).',
    'What is open of all invoices.': 'Ce qui reste dû de toutes les factures.',
    'What is still to be paid of it.': 'Ce qui en reste à payer.',
    'What is still to be paid.': 'Ce qui reste à payer.',
    'What it is called.': 'Son nom.',
    'What the Provider does for the Customer.': 'Ce que le prestataire fait pour le client.',
    'What the letter asks for.': 'Ce que la lettre réclame.',
    'What was changed.': 'Ce qui a été modifié.',
    'When (RFC 3339), in UTC.': 'Quand (RFC 3339), en UTC.',
    'Where the button leads.': 'Où mène le bouton.',
    [
      'Where the envelope has its window: din-5008-b or left (unless given; Germany and most countries), din-5008-a (the same, ' +
      'higher up), fr or right (France).'
    ]: 'Où l’enveloppe a sa fenêtre : din-5008-b ou left (par défaut ; l’Allemagne et la plupart des pays), din-5008-a (la même, ' +
      'plus haut), fr ou right (la France).',
    'Who invites.': 'La personne qui invite.',
    [
      'invitation: to become a user. password: to choose another password. provider: to sign in by the company\'s own provider. ' +
      'notice: what was changed.'
    ]: 'invitation : devenir utilisateur. password : choisir un autre mot de passe. provider : se connecter par le fournisseur ' +
      'd’identité de la société. notice : ce qui a été modifié.',
    'true: a word across every page says that this is a draft.': 'Un mot en travers de chaque page indique que c’est un brouillon.'
  }
}
