package embeddings

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/ranking"
)

// In each language, a query finds the one text that has its words in another form.
func TestInflectedQueries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		in      language
		texts   []string
		queries map[string]int
	}{
		{"English", inEnglish, []string{
			"The plumber came and he was repairing the pipes in the cellar.", "We have been to the lake with our cousins.",
			"She bought a ticket for the ferry at the harbour.",
		}, map[string]int{"who repaired a pipe?": 0, "which cousin was at the lakes?": 1, "when did she buy the tickets": 2}},
		{"Spanish", inSpanish, []string{
			"El fontanero está reparando las tuberías del sótano.", "Hemos ido al lago con nuestros primos.",
			"Compró un billete para el transbordador en el puerto.",
		}, map[string]int{"¿quién reparó la tubería?": 0, "¿qué prima fue a los lagos?": 1, "¿cuándo compraron los billetes?": 2}},
		{"French", inFrench, []string{
			"Le plombier a réparé les tuyaux dans la cave hier.", "Nous sommes allés au lac avec nos cousines.",
			"Elle achetait un billet pour le bateau dans le port.",
		}, map[string]int{"qui va réparer le tuyau ?": 0, "quelle cousine est allée aux lacs ?": 1, "quand a-t-elle acheté les billets ?": 2}},
		{"German", inGerman, []string{
			"Der Klempner hat gestern die Rohre im Keller repariert.", "Wir waren mit unseren Nachbarinnen an den Seen.",
			"Sie hat am Hafen eine Fahrkarte für die Fähre gekauft.",
		}, map[string]int{"wer hat das Rohr repariert?": 0, "welche Nachbarin war an dem See?": 1, "wann hat sie die Fahrkarten gekauft?": 2}},
		{"Portuguese", inPortuguese, []string{
			"O canalizador está reparando os canos da cave.", "Nós fomos ao lago com os nossos vizinhos.",
			"Ela comprou um bilhete para o barco no porto.",
		}, map[string]int{"quem reparou o cano?": 0, "qual vizinho foi aos lagos?": 1, "quando compraram os bilhetes?": 2}},
		{"Italian", inItalian, []string{
			"L'idraulico ha riparato i tubi della cantina.", "Siamo andati al lago con le nostre cugine.",
			"Lei ha comprato un biglietto per il traghetto nel porto.",
		}, map[string]int{"chi ripara il tubo?": 0, "quale cugina è andata ai laghi?": 1, "quando comprava i biglietti?": 2}},
		{"Dutch", inDutch, []string{
			"De loodgieter heeft de leidingen in de kelder gerepareerd.", "Wij waren met onze buren bij het meer.",
			"Zij heeft een kaartje voor de veerboot gekocht.",
		}, map[string]int{"wie heeft de leiding gezien?": 0, "welke kaartjes heeft zij?": 2}},
		{"Swedish", inSwedish, []string{
			"Rörmokaren lagade ledningarna i källaren.", "Vi var vid sjöarna med våra grannar.", "Hon köpte en biljett till färjan.",
		}, map[string]int{"vem har lagat ledningen?": 0, "vilken granne var det?": 1, "när köper hon biljetter?": 2}},
		{"Norwegian", inNorwegian, []string{
			"Rørleggeren reparerte ledningene i kjelleren etter meg.", "Vi var ved innsjøen med våre naboer.", "Hun kjøpte en billett til fergen etter dere.",
		}, map[string]int{"hvem har reparert ledningen?": 0, "når kjøper hun billetter?": 2}},
		{"Danish", inDanish, []string{
			"Blikkenslageren reparerede ledningerne i kælderen for mig.", "Vi var ved søen med vores naboer.", "Hun købte en billet til færgen af ham.",
		}, map[string]int{"hvem har repareret ledningen?": 0, "hvornår købte hun billetter?": 2}},
		{"Finnish", inFinnish, []string{
			"Putkimies korjasi putket kellarissa, kun hän oli siellä.", "Olimme järvellä naapurien kanssa ja se oli hyvin mukavaa.",
			"Hän osti lipun lauttaan, mutta ei voi tulla.",
		}, map[string]int{"mikä putki on kellarissa?": 0, "missä naapurit olivat?": 1, "kuka on lautassa?": 2}},
		{"Hungarian", inHungarian, []string{
			"A szerelő megjavította a csöveket, és már nem folyik a víz.", "A szomszédokkal voltunk a tavaknál, az nagyon szép volt.",
			"Ez az a jegy, amit a kompra vett.",
		}, map[string]int{"hol van a szerelőnek a csöve?": 0, "ki az a szomszéd?": 1, "hol vannak a jegyek?": 2}},
		{"Romanian", inRomanian, []string{
			"Instalatorul a reparat țevile din pivniță și nu mai curge.", "Am fost la lac cu vecinii și a fost foarte frumos.",
			"Ea a cumpărat un bilet pentru feribot.",
		}, map[string]int{"cine repară țeava din pivniță?": 0, "care vecin este la lacuri?": 1, "unde sunt biletele?": 2}},
		{"Turkish", inTurkish, []string{
			"Tesisatçı bodrumdaki boruları onardı ve bu çok iyi.", "Biz komşularla göle gittik ama o gelmedi.",
			"O feribot için bir bilet aldı.",
		}, map[string]int{"hangi boru nerede?": 0, "bu komşu kim?": 1, "biletler nerede?": 2}},
		{"Russian", inRussian, []string{
			"Вчера сантехник починил трубы в подвале.", "Мы ездили на озеро с нашими соседями.", "Она купила билет на паром в порту.",
		}, map[string]int{"кто чинит трубу?": 0, "какой сосед был на озёрах?": 1, "когда она покупала билеты?": 2}},
		{"Arabic", inArabic, []string{
			"أصلح السباك الأنابيب في القبو", "ذهبنا إلى البحيرة مع الجيران", "اشترت تذكرة في الميناء",
		}, map[string]int{"من هو سباك": 0, "أين بحيرة": 1, "كم تذاكر في ميناء": 2}},
		{"Chinese", 0, []string{
			"水管工昨天修好了地下室的管道。", "我们和邻居一起去了湖边。", "她在港口买了一张船票。",
		}, map[string]int{"谁修了管道？": 0, "哪个邻居去了湖边": 1, "船票": 2, "湖": 1}},
		{"Japanese", 0, []string{
			"配管工が昨日、地下室の水道管を直しました。", "私たちは隣人と湖へ行きました。", "彼女は港でフェリーの切符を買った。",
		}, map[string]int{"水道管は誰が直した？": 0, "湖に行った隣人": 1, "フェリーの切符を買いましたか": 2}},
		{"Thai", 0, []string{
			"ช่างประปาซ่อมท่อในห้องใต้ดิน", "เราไปทะเลสาบกับเพื่อนบ้าน", "เธอซื้อตั๋วเรือที่ท่าเรือ",
		}, map[string]int{"ใครซ่อมท่อ": 0, "ทะเลสาบ": 1, "ตั๋วเรือ": 2}},
		{"Korean", 0, []string{
			"배관공이 어제 지하실의 수도관을 고쳤습니다.", "우리는 이웃들과 호수에 갔습니다.", "그녀는 항구에서 배표를 샀다.",
		}, map[string]int{"수도관은 누가 고쳤나요?": 0, "어느 이웃이 호수로 갔어요": 1, "배표": 2, "항구": 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range test.texts {
				if words := ranking.Words(text); test.in&inLatinScript != 0 && guess(words) != test.in {
					t.Errorf("guess(%q) = %b, want %b", text, guess(words), test.in)
				}
			}
			for query, want := range test.queries {
				shares := search(query, test.texts, nil)
				others := slices.Max(append(slices.Clone(shares[:want]), shares[want+1:]...))
				if shares[want] < 0.02 || shares[want] < 2*others {
					t.Errorf("shares for %q = %.3f, want text %d far above the others", query, shares, want)
				}
			}
		})
	}
}

// Names and numbers are found whatever the languages of the query and of the text are.
func TestNamesAcrossLanguages(t *testing.T) {
	t.Parallel()
	texts := []string{
		"Ha llamado Evangeline y dice que el pedido 40817 está en la aduana.",
		"Die Rechnung von Herrn Dressler ist noch nicht da, und das Boot Albatros liegt im Hafen.",
		"Nous avons vu Mathilde et les enfants au marché de Kerlouan.",
		"Rosalinda ha chiesto della macchina a Bartolomeo, che non è ancora arrivato.",
		"Het pakket van Annelies is bij de buren, kamer 2291.",
		"昨日Wolfgangさんから40999の請求書が届いた。",
		"Она сказала, что Theodora приедет поездом 7715.",
	}
	for query, want := range map[string]int{
		"what about Evangeline?": 0, "wo ist 40817?": 0, "où est Evangeline ?": 0, "¿dónde está el Albatros?": 1,
		"has Dressler paid?": 1, "qui est Dressler ?": 1, "where did they see Mathilde?": 2, "wo liegt Kerlouan?": 2,
		"what did Rosalinda want": 3, "¿quién es Bartolomeo?": 3, "where is the parcel of Annelies?": 4, "¿qué hay en la 2291?": 4,
		"what did Wolfgang send": 5, "40999": 5, "who is Theodora?": 6, "поезд 7715": 6,
	} {
		if shares := search(query, texts, nil); best(shares) != want || shares[want] == 0 {
			t.Errorf("best for %q = %d of %.3f, want %d", query, best(shares), shares, want)
		}
	}
}

// Whatever a language's stemmer makes of a name, a query finds it as a word.
func TestKeysOfNames(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{
		"where is %s and what for", "¿dónde está %s y por qué?", "wo ist %s und warum nicht", "où est %s dans ce", "perché %s non è nella",
		"onde está %s e não o", "waar is %s en het", "var är %s och inte", "missä %s on ja miten", "hol van %s és nem", "unde este %s și nu",
		"nerede %s ve neden", "hvor er %s og ikke", "где %s и почему",
	} {
		for _, name := range []string{"Thomas", "Annelies", "Giovanni", "Bartolomeo", "Mathilde", "Evangeline", "Oakridge", "Martinez"} {
			keys := Lexical{}.Document(strings.ReplaceAll(frame, "%s", name))[0].Keys
			for _, query := range []string{"what about %s", "¿qué hay de %s?", "was ist mit %s"} {
				groups := Lexical{}.Parse(strings.ReplaceAll(query, "%s", name)).Keys()
				found := slices.ContainsFunc(slices.Concat(groups...), func(key int32) bool { return slices.Contains(keys, key) })
				if !found {
					t.Errorf("no key of %q finds it in %q", strings.ReplaceAll(query, "%s", name), strings.ReplaceAll(frame, "%s", name))
				}
			}
		}
	}
}

func TestSpaced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no such script": "no such script", "会議": "会 議 会議", "iphoneを買う": "iphone を 買 を買 う 買う", "東京2031年": "東 京 東京 2031 年",
		"タワー": "タ ワ タワ ー ワー", "กี่": "ก ี กี ่ ี่", "학교": "학 교 학교",
	} {
		if got := strings.Join(spaced(strings.Fields(text)), " "); got != want {
			t.Errorf("spaced(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFunctionWords(t *testing.T) {
	t.Parallel()
	perLanguage := map[language]int{}
	for word, in := range functionWords {
		if got := ranking.Words(word); len(got) != 1 || got[0] != word {
			t.Errorf("%q is not a word as ranking.Words gives it: %q", word, got)
		}
		for rest := in; rest != 0; rest &= rest - 1 {
			perLanguage[rest&-rest]++
		}
	}
	for _, in := range languageCodes {
		if perLanguage[in] < 30 {
			t.Errorf("function words of language %b = %d, want at least 30", in, perLanguage[in])
		}
	}
}

// A word under all stemmers has few stems, so that queries stay small.
func TestStemsAreFew(t *testing.T) {
	t.Parallel()
	sum, words := 0, ranking.Words(thirtyWords+" "+strings.Join(log, " "))
	for _, word := range words {
		stems := newStemmer().all(word, inEnglish)
		if len(stems) > 12 || !utf8.ValidString(strings.Join(stems, "")) {
			t.Errorf("stems of %q = %q, want at most 12", word, stems)
		}
		sum += len(stems)
	}
	if mean := float64(sum) / float64(len(words)); mean > 4 {
		t.Errorf("stems of a word = %.1f in the mean, want at most 4", mean)
	}
}

func TestConcepts(t *testing.T) {
	t.Parallel()
	texts := []string{"My sister moved in with her two kids.", "The invoice for the boiler is late.", "Ayer compré una guitarra para el concierto."}
	for query, want := range map[string]int{
		"Who has children?": 0, "relatives": 0, "¿Quién tiene hijos?": 0, "Which instrument is it?": 2, "¿Toca algún instrumento?": 2,
	} {
		if shares := search(query, texts, nil); best(shares) != want || shares[want] == 0 {
			t.Errorf("best for %q = %d of %.3f, want %d", query, best(shares), shares, want)
		}
	}
	if shares := search("Welche Kinder?", texts, nil); slices.Max(shares) != 0 {
		t.Errorf("shares for German words = %.3f, want nothing", shares)
	}
	for key, terms := range concepts {
		for _, term := range terms {
			if term <= wordDimensions || len(terms) > 8 {
				t.Errorf("concepts of %q = %v, want at most 8 in the upper half", key.text, terms)
			}
		}
	}
}
