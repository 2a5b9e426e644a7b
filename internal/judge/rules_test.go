package judge

import (
	"context"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/window"
)

const (
	contradicts = window.Contradicts
	agrees      = window.Agrees
	unrelated   = window.Unrelated
)

// relation judges one pair.
func relation(t *testing.T, known, given string) window.Verdict {
	t.Helper()
	verdicts, err := New().Judge(context.Background(), []window.Pair{{Known: known, New: given}})
	if err != nil || len(verdicts) != 1 || verdicts[0].By != window.RulesName || verdicts[0].Fallback != "" {
		t.Fatalf("Judge(%q, %q) = %v, %v", known, given, verdicts, err)
	}
	return verdicts[0]
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, cases := range map[string][]struct {
		known, given string
		want         window.Relation
	}{
		"numbers": {
			{"Budget: $200/night max", "Budget: $300/night max", contradicts},
			{"The budget is 200 dollars.", "El presupuesto es de 300 dólares.", contradicts},
			{"The price of the hotel is 120 euros.", "The hotel costs 140 €.", contradicts},
			{"The hotel costs 120 euros.", "The hotel costs 120 dollars.", unrelated},
			{"The tour lasts 90 minutes.", "The tour lasts 2 hours.", contradicts},
			{"The tour lasts 120 minutes.", "The tour lasts 2 hours.", agrees},
			{"The tour lasts an hour.", "La visita guiada dura una hora.", unrelated},
			{"La reunión dura una hora.", "The meeting lasts two hours.", contradicts},
			{"The timeout is 30 seconds.", "The timeout is 1 minute.", contradicts},
			{"The user has two children.", "The user has no children.", contradicts},
			{"The maximum budget is 200 euros.", "The budget is 300 euros at most.", contradicts},
			{"The tour lasts about 90 minutes.", "The tour lasts 100 minutes.", unrelated},
			{"The tour lasts about 90 minutes.", "The tour lasts 4 hours.", contradicts},
			{"The hotel has 1,500 rooms.", "The hotel has 1.500 rooms.", agrees},
			{"Marta is 34 years old.", "Marta tiene 43 años.", contradicts},
			{"The hotel has two pools.", "The hotel has 3 pools.", contradicts},
			{"The hotel has two pools.", "The hotel has 48 rooms.", unrelated},
			{"The hotel has 48 rooms and 2 pools.", "The hotel has 2 pools and a gym.", unrelated},
			{"The bus costs 2 euros for 1 hour.", "The bus costs 5 euros for 3 hours.", unrelated},
		},
		"numbers that name": {
			{"message 17 about the hotel", "message 18 about the hotel", unrelated},
			{"Message 17 is about the hotel.", "Message 18 is about the hotel.", unrelated},
			{"Document 15: the hotel costs 90 euros", "Document 16: the hotel costs 95 euros", unrelated},
			{"Document 15: 500 tokens", "Document 16: 600 tokens", unrelated},
			{"The user asked about room 12.", "The user asked about room 13.", unrelated},
			{"Item 3 of the list costs 5 euros.", "Item 4 of the list costs 6 euros.", unrelated},
			{"Invoice 4711 is paid.", "Invoice 4712 is unpaid.", unrelated},
			{"Step 1 is easy.", "Step 2 is difficult.", unrelated},
			{"Server web-01 is online.", "Server web-02 is offline.", unrelated},
			{"The user wants to visit room 12.", "The user wants to visit room 13.", unrelated},
			{"Version 1.2 needs 4 GB.", "Version 1.3 needs 8 GB.", unrelated},
			{"This is item number 5.", "This is item number 6.", unrelated},
			{"The user likes track 4.", "The user likes track 5.", unrelated},
		},
		"times": {
			{"The museum opens at 9", "The museum opens at 10", contradicts},
			{"The museum opens at 9 am.", "El museo abre a las 10:00.", contradicts},
			{"The museum opens at 9.", "The museum opens at 9:00 am.", agrees},
			{"The meeting is at 3 pm.", "The meeting is at 15:00.", agrees},
			{"The meeting is at 3.", "The meeting is at 15:00.", agrees},
			{"The museum opens at 9.", "The museum closes at 6.", unrelated},
			{"The museum opens at 9 on weekdays.", "The museum opens at 10.", unrelated},
			{"The museum opens at 9 on Mondays.", "The museum opens at 10 on Tuesdays.", unrelated},
			{"El tren a Sevilla sale a las 8.", "El tren de Sevilla sale a las 9.", unrelated},
			{"The train to Leeds leaves at 9:10.", "The train to York leaves at 9:40.", unrelated},
			{"The shop opens at noon.", "La tienda abre a mediodía.", agrees},
		},
		"dates": {
			{"El vuelo sale el 3 de mayo", "El vuelo sale el 5 de mayo", contradicts},
			{"The flight leaves on 2026-05-03.", "The flight leaves on May 5, 2026.", contradicts},
			{"The flight leaves on Friday, May 3, 2026.", "The flight leaves on May 3.", agrees},
			{"The flight leaves on 03/05/2026.", "The flight leaves on 05/03/2026.", unrelated},
			{"The flight leaves in May.", "The flight leaves on June 2.", contradicts},
			{"The flight leaves on Friday.", "The flight leaves on May 3.", unrelated},
			{"The museum is closed on Monday.", "The museum is closed on Tuesday.", unrelated},
			{"The bridge was built in 1932.", "El puente fue construido en 1954.", contradicts},
			{"The user visited Rome in 2019.", "The user visited Rome in 2022.", unrelated},
			{"The flight on Monday costs 200", "The flight on Tuesday costs 300", unrelated},
			{"The flight leaves tomorrow at 9.", "The flight leaves tomorrow at 10.", unrelated},
		},
		"places": {
			{"The Eiffel Tower is in Paris", "The Eiffel Tower is in London", contradicts},
			{"The Eiffel Tower is in Paris.", "The Eiffel Tower is located in Londres, England.", contradicts},
			{"The Eiffel Tower is in Paris", "The Louvre is in Paris", unrelated},
			{"The Eiffel Tower is in Paris", "The Eiffel Tower is in France", unrelated},
			{"The Eiffel Tower is in Paris", "The Eiffel Tower is in Germany", contradicts},
			{"The Eiffel Tower is in Paris", "The Eiffel Tower is in Champ de Mars", unrelated},
			{"The hotel is in London.", "El hotel está en Londres.", agrees},
			{"User location: Paris", "User location: London", contradicts},
			{"The flat is on the third floor.", "El apartamento está en la quinta planta.", contradicts},
			{"I went to Paris.", "I went to London.", unrelated},
			{"The user travelled to Paris.", "The user travelled to London.", unrelated},
			{"The hotel is near Paris.", "The hotel is near London.", unrelated},
			{"The company has an office in Madrid.", "The company has an office in Lima.", unrelated},
			{"Ana lived in Paris.", "Ana lived in London.", unrelated},
			{"Ana has lived in Paris.", "Ana has lived in London.", unrelated},
			{"Ana lived in Paris.", "Ana lives in London.", unrelated},
			{"The meeting is in room 12.", "The meeting is in room 14.", contradicts},
			{"The brand is popular in Spain.", "The brand is popular in Italy.", unrelated},
		},
		"denials": {
			{"Ana is vegetarian", "Ana is not vegetarian", contradicts},
			{"Ana is vegetarian", "Ana is no longer vegetarian.", contradicts},
			{"Ana es vegetariana.", "Ana ya no es vegetariana.", contradicts},
			{"Ana is vegetarian", "Ana isn't vegan", unrelated},
			{"Ana is vegetarian", "Ana isn’t vegetarian anymore", contradicts},
			{"The room has a balcony.", "The room does not have any balcony.", contradicts},
			{"The user never drinks alcohol.", "The user doesn't drink alcohol.", agrees},
			{"The user doesn't eat meat.", "The user eats fish.", unrelated},
			{"The hotel is not only cheap.", "The hotel is cheap.", unrelated},
			{"The room is not ready yet.", "The room is ready.", unrelated},
			{"Ana went to the gym.", "Ana did not go to the gym.", unrelated},
			{"There is an elevator in the building.", "There is no elevator in the building.", contradicts},
			{"Hay ascensor en el edificio.", "No hay ascensor en el edificio.", contradicts},
			{"Don't book the hotel.", "Book the hotel.", unrelated},
			{"El paquete ha llegado.", "El paquete no ha llegado.", contradicts},
		},
		"preferences": {
			{"User prefers budget hotels", "User prefers luxury 5-star hotels", contradicts},
			{"User prefers quality hotels over cheap ones", "User prefers cheap hotels", contradicts},
			{"User prefers quality hotels over cheap ones", "User prefers cheap restaurants", unrelated},
			{"User prefers tea to coffee.", "User prefers coffee to tea.", contradicts},
			{"User prefers tea to coffee.", "User prefers tea.", unrelated},
			{"El usuario prefiere el té antes que el café.", "The user prefers coffee.", contradicts},
			{"Prefiero los hoteles baratos.", "Prefiero los hoteles de lujo.", contradicts},
			{"Me gusta el té.", "No me gusta el té.", contradicts},
			{"A Juan le gusta el té.", "A Ana no le gusta el té.", unrelated},
			{"A Juan le gusta el té.", "A Juan no le gusta nada el té.", contradicts},
			{"Juan likes tea.", "A Juan no le gusta el té.", contradicts},
			{"I love spicy food.", "I hate spicy food.", contradicts},
			{"I like tea.", "I like coffee.", unrelated},
			{"I love this hotel", "I hate this hotel", unrelated}, // which one?
			{"I like it.", "I don't like it.", unrelated},
			{"User preference: aisle seat", "User preference: window seat", contradicts},
			{"User wants a cheap hotel.", "User wants an expensive hotel.", contradicts},
			{"User likes cheap hotels.", "User likes luxury hotels.", unrelated},
		},
		"opposites": {
			{"The shop is open.", "La tienda está cerrada.", contradicts},
			{"The old server is slow.", "The new server is slow.", unrelated},
			{"The old server is slow.", "The new server is fast.", unrelated},
			{"The shop was open.", "The shop is closed.", unrelated},
			{"The shop is not open.", "The shop is closed.", unrelated},
			{"The shop is open in summer.", "The shop is closed in winter.", unrelated},
			{"The shop is open today.", "The shop is closed today.", unrelated},
			{"The test suite passed.", "The test suite failed.", contradicts},
			{"Ana passed the exam.", "Ana failed the exam.", unrelated}, // another one, perhaps
			{"The hotel allows pets.", "The hotel forbids pets.", contradicts},
			{"The car is red.", "El coche es azul.", contradicts},
		},
		"one value": {
			{"The capital of Australia is Canberra.", "The capital of Australia is Sydney.", contradicts},
			{"The user's favourite colour is blue.", "The user's favourite colour is turquoise.", contradicts},
			{"The book was written by Ana in 2019.", "The book was written by Pedro.", contradicts},
			{"The book was written by Ana.", "The book was written by Pedro.", contradicts},
			{"The book was written by Ana.", "The book was written by Pedro and Ana.", unrelated},
			{"The report is read by Ana.", "The report is read by Pedro.", unrelated},
			{"Field number 1 is long.", "Field number 1 is text.", unrelated},
			{"The author of the book is Ana Ruiz.", "The author of the book is Eva Gil.", contradicts},
			{"The author of the book is Ana Ruiz.", "The author of the book is German.", unrelated},
			{"The author of the book is Ana Ruiz.", "The author of the book is Ruiz.", unrelated},
			{"The user's password is sunflower.", "The user's password is moonlight.", contradicts},
			{"The user's password is sunflower.", "The user's password is on file.", unrelated},
			{"The user's favourite food is sushi.", "The user's favourite food is cheap.", unrelated},
			{"The language of the course is English.", "The language of the course is easy.", unrelated},
			{"The name of the hotel is Ritz.", "The hotel is famous.", unrelated},
		},
		"no claims": {
			{"The museum opens at 9.", "Does the museum open at 10?", unrelated},
			{"The museum opens at 9.", "¿El museo abre a las 10?", unrelated},
			{"The museum opens at 9.", "If it rains, the museum opens at 10.", unrelated},
			{"The museum opens at 9.", "Maybe the museum opens at 10.", unrelated},
			{"The museum opens at 9.", "The museum may open at 10.", unrelated},
			{"The museum opens at 9.", "The museum should open at 10.", unrelated},
			{"The museum opens at 9.", "Pedro says the museum opens at 10.", unrelated},
			{"The museum opens at 9.", "According to Pedro, the museum opens at 10.", unrelated},
			{"The museum opens at 9.", "According to its website, the museum opens at 10.", contradicts},
			{"The museum opens at 9.", "\"The museum opens at 10.\"", unrelated},
			{"The museum opens at 9.", "It opens at 10.", unrelated},
			{"A room costs 90 euros.", "A room costs 110 euros.", unrelated},
			{"Every room costs 90 euros.", "Some rooms cost 110 euros.", unrelated},
			{"The answer is 5.", "The answer is 7.", unrelated},
			{"The message is short.", "The message is long.", unrelated},
			{"The flight from Paris to London costs 100 euros.", "The flight from London to Paris costs 120 euros.", unrelated},
			{"The user is married.", "The user's son is single.", unrelated},
			{"That hotel costs 90 euros.", "That hotel costs 110 euros.", unrelated},
			{"Her hotel costs 90 euros.", "Her hotel costs 110 euros.", unrelated},
			{"Hotel: Ritz\nPrice: 90 euros\nCity: Paris", "Hotel: Savoy\nPrice: 200 euros\nCity: London", unrelated},
			{"Price: 90 euros", "Price: 200 euros", unrelated},
			{"Preferencia: té", "Preferencia: café", unrelated},
			{"Since version: 2", "Since version: 3", unrelated},
			{`{"price": 90}`, `{"price": 200}`, unrelated},
			{"I love this hotel", "Can you find another?", unrelated},
			{"The hotel that we booked costs 90 euros.", "The hotel that Ana booked costs 110 euros.", unrelated},
			{"I am tired.", "I am not tired.", unrelated},
			{"", "", unrelated},
		},
		"agreement": {
			{"The Eiffel Tower is in Paris.", "The Eiffel Tower is in Paris.", agrees},
			{"The Eiffel Tower is in Paris, next to the river.", "The Eiffel Tower is in Paris.", agrees},
			{"The hotel has a pool and is quiet.", "El hotel es tranquilo.", agrees},
			{"The Eiffel Tower is in Paris.", "Paris is nice.", unrelated},
			{"The user likes dogs more than cats.", "The user likes cats more than dogs.", unrelated},
			{"The user introduced Ana to Pedro.", "The user introduced Pedro to Ana.", unrelated},
			{"The user wants Ana to call Pedro.", "The user wants Pedro to call Ana.", unrelated},
			{"The gift is for Ana.", "The gift is by Ana.", unrelated},
			{"Ana is vegetarian.", "Pedro is vegetarian.", unrelated},
			{"Do you like it?", "Do you like it?", unrelated},
		},
		"several sentences": {
			{"The shop is open. The shop is closed.", "The shop is closed.", unrelated},
			{"The flag accepts 1, 0, 5.", "The flag accepts 1, 0, 5.", unrelated},
			{"The museum opens at 9. It was nice.", "Thanks! The museum opens at 10, and it is large.", contradicts},
			{"We spoke of Paris. Ana is vegetarian.", "Thanks! Ana is not vegetarian.", contradicts},
			{"Hotel Ritz is in Paris. The hotel has 48 rooms.", "Hotel Savoy is in London. The hotel has 52 rooms.", unrelated},
			{"Ritz\nThe hotel has 48 rooms.", "Savoy\nThe hotel has 52 rooms.", unrelated},
			{"# Hotel Ritz\n\nBreakfast costs 12 euros.", "# Hotel Savoy\n\nBreakfast costs 15 euros.", unrelated},
			{"We talked about Pedro. The user prefers tea to coffee.", "The user prefers coffee to tea.", contradicts},
			{"The museum opens at 9. The café is cheap.", "The museum opens at 9.", agrees},
			{"The museum opens at 9.", "The museum opens at 9. The café is cheap.", unrelated},
			{"The hotel has 48 rooms and opens in May.", "The hotel opens in June.", contradicts},
			{"Yes, the museum opens at 9.", "Note: the museum opens at 10.", contradicts},
		},
	} {
		for _, test := range cases {
			for _, pair := range [][2]string{{test.known, test.given}, {test.given, test.known}} {
				got := relation(t, pair[0], pair[1])
				if got.Relation != test.want && (test.want != agrees && got.Relation != agrees || pair[0] == test.known) {
					t.Errorf("%s: %q, then %q: %v (%s), want %v", name, pair[0], pair[1], got.Relation, got.Reason, test.want)
				}
			}
		}
	}
}

// TestNothingNew holds that a text which says more than the known one does not agree: it would be taken for verified.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	const known = "The Eiffel Tower is in Paris."
	for _, more := range []string{
		"The Eiffel Tower is in Paris, which was destroyed.", "The Eiffel Tower is in Paris (and in London).", "The Eiffel Tower is in Paris because it rains.",
		"The Eiffel Tower is in Paris. Ignore what was said.", "The Eiffel Tower is in Paris since 2020.", "The Eiffel Tower is in Paris: sold for 5 euros",
		"The Eiffel Tower is in Paris and it is red", "The Eiffel Tower is in Paris, bread is free.", "The Eiffel Tower is in Paris — twice.",
		"The Eiffel Tower is in Paris and open.", "According to the mayor, the Eiffel Tower is in Paris.", "The Eiffel Tower is in Paris, 7 days a week.",
	} {
		if v := relation(t, known, more); v.Relation == agrees {
			t.Errorf("%q agrees with %q: %s", more, known, v.Reason)
		}
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	known, given := "The museum opens at 9.", "The museum opens at 10."
	if got := relation(t, known, given).Reason; !strings.Contains(got, known) || !strings.Contains(got, given) || !strings.Contains(got, "times differ") {
		t.Errorf("reason = %s, want one that quotes both, and says that the times differ", got)
	}
	if got := relation(t, known, known).Reason; strings.Count(got, known) != 2 {
		t.Errorf("reason = %s, want one that quotes both", got)
	}
	if got := relation(t, known, "Fine.").Reason; got != "" {
		t.Errorf("reason = %s of unrelated texts, want none", got)
	}
}
