package typecheck

import "testing"

func TestFlagName(t *testing.T) {
	for field, flag := range map[string]string{
		"workers": "workers", "maxOrders": "max-orders", "MaxOrders": "max-orders", "max_orders": "max-orders", "URL": "url", "maxHTTPOrders": "max-http-orders",
		"n2": "n2", "_x": "x", "x_": "x", "a__b": "a-b", "aB": "a-b", "größeMax": "größe-max", "_": "",
	} {
		if got := FlagName(field); got != flag {
			t.Errorf("the flag of %s is %s, want %s", field, got, flag)
		}
	}
}
