package embeddings

// irregular gives the base form of an English word whose form no stemmer derives, or "". Forms that are more often
// another word ("saw", "felt", "found" as a base) still go to the verb: what counts is that a question asked with
// one form finds an answer given with the other.
func irregular(word string) string {
	switch word {
	case "became":
		return "become"
	case "began", "begun":
		return "begin"
	case "broke", "broken":
		return "break"
	case "brought":
		return "bring"
	case "built":
		return "build"
	case "bought":
		return "buy"
	case "caught":
		return "catch"
	case "chose", "chosen":
		return "choose"
	case "came":
		return "come"
	case "drew", "drawn":
		return "draw"
	case "drank", "drunk":
		return "drink"
	case "drove", "driven":
		return "drive"
	case "ate", "eaten":
		return "eat"
	case "fell", "fallen":
		return "fall"
	case "fed":
		return "feed"
	case "felt":
		return "feel"
	case "fought":
		return "fight"
	case "found":
		return "find"
	case "flew", "flown":
		return "fly"
	case "forgot", "forgotten":
		return "forget"
	case "got", "gotten":
		return "get"
	case "gave", "given":
		return "give"
	case "went", "gone":
		return "go"
	case "grew", "grown":
		return "grow"
	case "heard":
		return "hear"
	case "held":
		return "hold"
	case "kept":
		return "keep"
	case "knew", "known":
		return "know"
	case "led":
		return "lead"
	case "learnt":
		return "learn"
	case "left":
		return "leave"
	case "lost":
		return "lose"
	case "made":
		return "make"
	case "meant":
		return "mean"
	case "met":
		return "meet"
	case "paid":
		return "pay"
	case "rode", "ridden":
		return "ride"
	case "ran":
		return "run"
	case "said":
		return "say"
	case "saw", "seen":
		return "see"
	case "sold":
		return "sell"
	case "sent":
		return "send"
	case "shown":
		return "show"
	case "sang", "sung":
		return "sing"
	case "sat":
		return "sit"
	case "slept":
		return "sleep"
	case "spoke", "spoken":
		return "speak"
	case "spent":
		return "spend"
	case "stood":
		return "stand"
	case "swam", "swum":
		return "swim"
	case "took", "taken":
		return "take"
	case "taught":
		return "teach"
	case "told":
		return "tell"
	case "thought":
		return "think"
	case "threw", "thrown":
		return "throw"
	case "understood":
		return "understand"
	case "woke", "woken":
		return "wake"
	case "wore", "worn":
		return "wear"
	case "won":
		return "win"
	case "wrote", "written":
		return "write"
	case "children":
		return "child"
	case "people":
		return "person"
	case "men":
		return "man"
	case "women":
		return "woman"
	case "feet":
		return "foot"
	case "teeth":
		return "tooth"
	case "wives":
		return "wife"
	case "lives":
		return "life"
	case "better", "best":
		return "good"
	case "worse", "worst":
		return "bad"
	}
	return ""
}
